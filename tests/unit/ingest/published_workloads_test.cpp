#include <catch2/catch.hpp>

#include "reporters/ingest/epoch_stats.hpp"
#include "reporters/ingest/published_workloads.hpp"

using namespace feedbench::ingest;

TEST_CASE("names say workload, accelerator and counts in many spellings") {
    struct Case {
        const char *name, *model, *accelerator;
        unsigned accelerators, hosts;
    };
    for (const Case& c : {Case{"unet3d_h100", "unet3d", "h100", 0, 0}, Case{"resnet-h100", "resnet50", "h100", 0, 0},
                          Case{"cosmoflow-10acc", "cosmoflow", "", 10, 0}, Case{"6hosts@25GPUs", "", "", 0, 6},
                          Case{"Acme_unet3d_5Client_A100", "unet3d", "a100", 0, 5},
                          Case{"1-client-amd-nvme", "", "", 0, 1}, Case{"OceanStor_A800_51_hosts", "", "", 0, 51},
                          Case{"AI400X2T_24x14TiB_nvme_8xNDR200_18clients", "", "", 0, 18},
                          Case{"3_SappRapid-Clients", "", "", 0, 0}, Case{"run-3", "", "", 0, 0}}) {
        INFO(c.name);
        const NameParts parts = parts_of_name(c.name);
        CHECK(parts.model == c.model);
        CHECK(parts.accelerator == c.accelerator);
        CHECK(parts.accelerator_count == c.accelerators);
        CHECK(parts.hosts == c.hosts);
    }
    CHECK(model_name("ResNet-50") == "resnet50");
    CHECK(model_name("3D_Unet") == "unet3d");
    CHECK(accelerator_name("NVIDIA H100") == "h100");
}

TEST_CASE("record length, sleeps and figures tell workload and accelerator") {
    CHECK(model_of_record_length(146600628) == "unet3d");
    CHECK(model_of_record_length(1466006).empty());
    CHECK(accelerator_of_think_time("unet3d", 0.323) == "h100");
    CHECK(accelerator_of_think_time("unet3d", 0.4).empty());
    // published: AU 90.285 %, 66.218 samples/s on 8 accelerators, whose first step takes a fifth of the time
    CHECK(accelerator_of_figures("unet3d", 90.285, 66.218, 8) == "a100");
    CHECK(accelerator_of_figures("unet3d", 90, 66.218, 80).empty());
    CHECK(accelerator_of_figures("unet3d", 0, 66.218, 8).empty());
}

TEST_CASE("times of day become seconds, other text becomes nothing") {
    CHECK(*seconds_of_time("1970-01-02T00:00:01.5") == Approx(86401.5));
    CHECK(*seconds_of_time("2024-03-01 00:00:00") - *seconds_of_time("2024-02-29T00:00:00") == Approx(86400));
    for (const char* text : {"", "yesterday", "2024-13-01T00:00:00", "2024-01-01"}) CHECK_FALSE(seconds_of_time(text));
}
