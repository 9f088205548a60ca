// SPDX-License-Identifier: BSD-3-Clause
// A simulated node: files and links below a folder, with the same structure as /proc and /sys of Linux.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {

class FakeNode {
 public:
  const std::string& root() const { return root_; }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  /// Makes a folder for a pool, outside the simulated /proc and /sys.
  std::string make_folder() const {
    std::filesystem::create_directories(root_ + "/mnt");
    return root_ + "/mnt";
  }

  /// Adds a block device with the number 259:INDEX, at `folder` below /sys/devices.
  void add_disk(int index, const std::string& folder, bool dax) const {
    const std::string device = "/sys/devices/" + folder;
    write(device + "/size", "262144\n");
    write(device + "/queue/dax", dax ? "1\n" : "0\n");
    link_disk(index, device);
  }

  /// Adds the disk's first partition, which begins at sector `start` and has the next number.
  void add_partition(int index, const std::string& disk, int start) const {
    const std::string device = "/sys/devices/" + disk + "/" + std::filesystem::path(disk).filename().string() + "p1";
    write(device + "/partition", "1\n");
    write(device + "/start", std::to_string(start) + "\n");
    write(device + "/size", "131072\n");
    link_disk(index, device);
  }

  /// Adds a region with the namespace namespaceR.0. mode: the kernel's name for the mode; fsdax is `memory`.
  void add_namespace(int region, const std::string& mode, const std::string& domain = "memory_controller") const {
    const std::string number = std::to_string(region);
    const std::string bus = "/sys/bus/nd/devices/";
    write(bus + "region" + number + "/size", "134217728\n");
    write(bus + "region" + number + "/persistence_domain", domain + "\n");
    write(bus + "namespace" + number + ".0/mode", mode + "\n");
    write(bus + "namespace" + number + ".0/size", "134217728\n");
    write(bus + "namespace" + number + ".0/numa_node", "0\n");
  }

  /// Adds the device that claims a namespace and has the namespace's disk: pfn0.0 for fsdax, btt0.0 for sector. Returns
  /// the disk's folder.
  std::string claim(int region, const std::string& kind, const std::string& disk) const {
    const std::string name = kind + std::to_string(region) + ".0";
    const std::string folder = "LNXSYSTM:00/ACPI0012:00/ndbus0/region" + std::to_string(region) + "/" + name;
    write("/sys/devices/" + folder + "/namespace", "namespace" + std::to_string(region) + ".0\n");
    write("/sys/devices/" + folder + "/numa_node", "0\n");
    if (kind == "pfn") write("/sys/devices/" + folder + "/align", "2097152\n");
    return folder + "/block/" + disk;
  }

  /// For a namespace that no device claims: the disk belongs to the namespace. Returns the disk's folder.
  std::string unclaimed(int region, const std::string& disk) const {
    const std::string folder =
        "LNXSYSTM:00/ACPI0012:00/ndbus0/region" + std::to_string(region) + "/namespace" + std::to_string(region) + ".0";
    write("/sys/devices/" + folder + "/numa_node", "0\n");
    return folder + "/block/" + disk;
  }

  /// Mounts the device 259:INDEX at `point`, among other mounts.
  void mount(int index, const std::string& point, const std::string& type, const std::string& source,
             const std::string& options) const {
    write("/proc/self/mountinfo",
          "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
          "30 21 259:" +
              std::to_string(index) + " / " + point + " rw,relatime shared:2 - " + type + " " + source + " rw," +
              options + "\n31 21 0:40 / " + point + "elsewhere rw - tmpfs tmpfs rw\n");
  }

  /// Makes a node without faults that has one region, and pmem0 with ext4 and dax=always. Returns the folder at which
  /// pmem0 is mounted.
  std::string make_fsdax(const std::string& domain = "memory_controller",
                         const std::string& options = "dax=always,stripe=512") const {
    add_namespace(0, "memory", domain);
    add_disk(0, claim(0, "pfn", "pmem0"), true);
    const std::string folder = make_folder();
    mount(0, folder, "ext4", "/dev/pmem0", options);
    return folder;
  }

 private:
  void link_disk(int index, const std::string& device) const {
    for (const std::string& link : {root_ + "/sys/dev/block/259:" + std::to_string(index),
                                    root_ + "/sys/class/block/" + std::filesystem::path(device).filename().string()}) {
      std::filesystem::create_directories(std::filesystem::path(link).parent_path());
      std::filesystem::create_directory_symlink(root_ + device, link);
    }
  }

  TemporaryFolder folder_;
  std::string root_ = std::filesystem::canonical(folder_.path()).string();
};

}  // namespace ringside::testing
