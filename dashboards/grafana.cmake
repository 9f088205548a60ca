# SPDX-License-Identifier: BSD-3-Clause
# Writes the Grafana dashboard, dashboards/grafana.json of the build folder. In the expressions, @NAME stands for the metric
# ringside_NAME of the chosen instance, and rate(@NAME) for its rate over Grafana's interval.
set(panels "")

# panel(ID TYPE TITLE DESCRIPTION "X Y WIDTH HEIGHT" UNIT LOOK "LEGEND [COLOUR]: EXPRESSION" ...)
# TYPE: stat, timeseries or table. LOOK: the JSON members of the values' look, which may be empty.
function(panel id type title description place unit look)
  string(REGEX REPLACE "([0-9]+) ([0-9]+) ([0-9]+) ([0-9]+)" [["x": \1, "y": \2, "w": \3, "h": \4]] place "${place}")
  set(options_stat [["reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "none", "graphMode": "none"]])
  set(options_timeseries [["legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}]])
  set(options_table [["showHeader": true]])
  set(options "${options_${type}}")
  set(range [["range": true]])
  if(type STREQUAL "table")
    set(range [["range": false, "format": "table", "instant": true]])
  endif()
  set(names A B C D E)
  set(targets "")
  set(colours "")
  foreach(series IN LISTS ARGN)
    string(REGEX MATCH "^([^:#]*)( (#[0-9A-F]+))?: (.*)$" matched "${series}")
    set(legend "${CMAKE_MATCH_1}")
    set(colour "${CMAKE_MATCH_3}")
    set(expression "${CMAKE_MATCH_4}")
    string(REGEX REPLACE "rate\\((@[a-z0-9_]+)\\)" "rate(\\1[$__rate_interval])" expression "${expression}")
    string(REGEX REPLACE "@([a-z0-9_]+)" [[ringside_\1{instance=\\"$instance\\"}]] expression "${expression}")
    list(POP_FRONT names name)
    string(CONFIGURE [[,
        {
          "datasource": {"type": "prometheus", "uid": "${datasource}"},
          "expr": "@expression@",
          "legendFormat": "@legend@",
          "refId": "@name@",
          "editorMode": "code",
          @range@
        }]] target @ONLY)
    string(APPEND targets "${target}")
    if(colour)
      string(CONFIGURE [[,
          {
            "matcher": {"id": "byName", "options": "@legend@"},
            "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": "@colour@"}}]
          }]] override @ONLY)
      string(APPEND colours "${override}")
    endif()
  endforeach()
  string(REGEX REPLACE "^," "" targets "${targets}")
  string(REGEX REPLACE "^," "" colours "${colours}")
  if(NOT look)
    set(look [["custom": {}]])
  endif()
  string(CONFIGURE [[,
    {
      "id": @id@,
      "type": "@type@",
      "title": "@title@",
      "description": "@description@",
      "datasource": {"type": "prometheus", "uid": "${datasource}"},
      "gridPos": {@place@},
      "fieldConfig": {"defaults": {"unit": "@unit@", @look@}, "overrides": [@colours@]},
      "options": {@options@},
      "targets": [@targets@
      ]
    }]] panel @ONLY)
  set(panels "${panels}${panel}" PARENT_SCOPE)
endfunction()

set(from_0 [["custom": {}, "min": 0]])
set(logarithmic [["custom": {"scaleDistribution": {"type": "log", "log": 10}, "lineWidth": 2}]])
set(linear [["custom": {"scaleDistribution": {"type": "linear"}, "lineWidth": 2}]])
set(stacked [["custom": {"stacking": {"mode": "normal", "group": "A"}, "fillOpacity": 70, "lineWidth": 1}, "min": 0]])
set(words [=[
        "custom": {},
        "mappings": [
          {"type": "value", "options": {"0": {"text": "away", "index": 0}, "1": {"text": "there", "index": 1}}}
        ]]=])
set(per_step "/ rate(@steps_committed_total)")

panel(1 stat "Analyzer" "1 while the analyzer sends messages." "0 0 4 4" short "${words}" ": @analyzer_up")
panel(2 stat "Iteration" "The solver's index of the newest committed iterate." "4 0 4 4" short "" ": @iteration")
panel(3 stat "Change L1" "" "8 0 4 4" sci "" ": @residual_l1")
panel(4 stat "Steps committed and persisted" "" "12 0 6 4" short ""
  "committed: @steps_committed_total" "persisted: @steps_persisted_total")
panel(5 stat "Ring" "The number of slots, and of committed steps that are not persisted." "18 0 6 4" short "" "slots: @ring_slots"
  "not persisted: @steps_committed_total - @steps_persisted_total and @run_persists == 1")
panel(6 timeseries "Change" "Norms of the change, as the solver computed them." "0 4 12 8" sci "${logarithmic}"
  "L1: @residual_l1" "L∞: @residual_linf")
panel(7 timeseries "Steps a second" "" "12 4 12 8" ops "${from_0}"
  "committed: rate(@steps_committed_total)" "persisted: rate(@steps_persisted_total)" "skipped: rate(@steps_skipped_total)")
panel(8 timeseries "Producer: time per step" "" "0 12 12 8" s "${stacked}"
  "generate #0072B2: rate(@generate_seconds_total) ${per_step}"
  "producer idle #D55E00: rate(@producer_idle_seconds_total) ${per_step}")
panel(9 timeseries "Analyzer: time per step" "" "12 12 12 8" s "${stacked}"
  "transfer #E69F00: rate(@transfer_seconds_total) ${per_step}"
  "commit #B2478C: rate(@commit_seconds_total) ${per_step}"
  "analyze #009E73: rate(@analyze_seconds_total) ${per_step}"
  "record: rate(@record_seconds_total) ${per_step}"
  "analyzer idle #A9B4C0: rate(@analyzer_idle_seconds_total) ${per_step}")
panel(10 timeseries "Hand-off" "From publishing a step to the analyzer's first copied byte." "0 20 12 8" s "${logarithmic}"
  "p50: histogram_quantile(0.5, rate(@hand_off_seconds_bucket))"
  "p90: histogram_quantile(0.9, rate(@hand_off_seconds_bucket))"
  "p99: histogram_quantile(0.99, rate(@hand_off_seconds_bucket))")
panel(11 timeseries "Transfer" "Bytes copied into the ring per second, over all time and while copying." "12 20 12 8" Bps "${from_0}"
  "over all: rate(@transferred_bytes_total)"
  "while copying: rate(@transferred_bytes_total) / rate(@transfer_seconds_total)")
panel(13 timeseries "Results" "The chosen results of the newest step, by their full names." "0 28 24 8" sci "${linear}"
  "{{name}}: ringside_result{instance=\\\"$instance\\\", name=~\\\"$result\\\"}")
panel(12 table "Run" "The newest run." "0 36 24 4" short "" ": @run_info")

string(REGEX REPLACE "^," "" panels "${panels}")
string(CONFIGURE [[{
  "title": "Ringside",
  "uid": "ringside",
  "tags": ["ringside"],
  "schemaVersion": 38,
  "version": 1,
  "editable": true,
  "refresh": "5s",
  "time": {"from": "now-15m", "to": "now"},
  "timezone": "browser",
  "templating": {
    "list": [
      {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source"},
      {
        "name": "instance",
        "type": "query",
        "label": "Instance",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "definition": "label_values(ringside_analyzer_up, instance)",
        "query": {"query": "label_values(ringside_analyzer_up, instance)", "refId": "instance"},
        "refresh": 2,
        "sort": 1
      },
      {
        "name": "result",
        "type": "query",
        "label": "Result",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "definition": "label_values(ringside_result{instance=\"$instance\"}, name)",
        "query": {"query": "label_values(ringside_result{instance=\"$instance\"}, name)", "refId": "result"},
        "refresh": 2,
        "sort": 1,
        "multi": true,
        "includeAll": false
      }
    ]
  },
  "annotations": {
    "list": [
      {
        "name": "Runs",
        "datasource": {"type": "prometheus", "uid": "${datasource}"},
        "enable": true,
        "expr": "changes(ringside_run_start_time_seconds{instance=\"$instance\"}[1m]) > 0",
        "titleFormat": "run started",
        "iconColor": "#0072B2"
      }
    ]
  },
  "panels": [@panels@
  ]
}
]] dashboard @ONLY)
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/dashboards/grafana.json" CONTENT "${dashboard}" @ONLY)
