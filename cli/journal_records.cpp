#include "cli/journal_records.hpp"

#include <optional>
#include <utility>

#include "analyzer/journal.hpp"

namespace ringside {

JournalRecords read_journal(const std::string& pool) {
  JournalReader reader = JournalReader::open(pool);
  JournalRecords read;
  std::uint64_t from = 0;
  while (const std::optional<EncodedRecord> encoded = reader.next(from)) {
    from = encoded->seq + 1;
    wire::Record record;
    // A record of a kind that this version does not know parses all the same; one that does not parse tells nothing.
    if (record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size()))) {
      read.records.push_back(std::move(record));
    }
  }
  read.damage = reader.damage();
  read.torn = reader.torn();
  return read;
}

}  // namespace ringside
