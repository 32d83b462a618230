#include "harness/dataset/sizes_dlio.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

using namespace feedbench::dataset;

namespace {

// Made with numpy 1.24.2: RandomState(seed), then get_state(), randint words, normal(0, 1).
struct Golden {
    std::uint32_t seed;
    std::vector<std::uint32_t> words;
    std::vector<double> normals;
};
const std::vector<Golden> kGolden = {
    {0,
     {2357136044U, 2546248239U, 3071714933U, 3626093760U, 2588848963U, 3684848379U},
     {0x1.c398ef3e5cfa5p+0, 0x1.99c2cfacc8953p-2, 0x1.f51d25222c9abp-1, 0x1.1ed5969e3314ep+1, 0x1.de1847cb13ddap+0}},
    {10,
     {3312796937U, 1283169405U, 89128932U, 2124247567U, 2721498432U, 1902734705U},
     {0x1.54e2da6707fffp+0, 0x1.6e390bb51d7a3p-1, -0x1.8b9f5a81d8c43p+0, -0x1.12b8d4a0f837fp-7, 0x1.3e1fbfaf60378p-1}},
    {123,
     {2991312382U, 3062119789U, 1228959102U, 1840268610U, 974319580U, 2967327842U},
     {-0x1.15ebe320b670ep+0, 0x1.fea40ff7c8334p-1, 0x1.21c51d8a6b038p-2, -0x1.819c87c66a773p+0, -0x1.283e4acf530efp-1}},
    {4294967295U,
     {419326371U, 479346978U, 3918654476U, 2416749639U, 3388880820U, 2260532800U},
     {0x1.4bfc38c486d8ap-1, 0x1.56b192e507eeep-1, -0x1.149e836f192fdp+0, 0x1.23543dec5a0fcp-2, 0x1.d27bf27c6aaafp-4}},
};

struct GoldenSizes {
    double record_length, stdev;
    std::uint64_t files, total_elements;
    std::vector<std::pair<std::uint64_t, DimensionPair>> pairs;
};
const std::vector<GoldenSizes> kGoldenSizes = {
    {146600628.0,
     68341808.0,
     168,
     25285981919ULL,
     {{0, {15865, 14125}}, {1, {7745, 12083}}, {84, {12880, 10653}}, {166, {14242, 10048}}, {167, {15535, 14952}}}},
    {2828486.0,
     71311.0,
     5000,
     14122276654ULL,
     {{0, {1709, 1696}}, {1, {1648, 1680}}, {2500, {1694, 1682}}, {4998, {1671, 1694}}, {4999, {1707, 1705}}}},
    {65536.0,
     262144.0,
     1000,
     118508319ULL,
     {{0, {937, 622}}, {1, {1, 251}}, {500, {1030, 183}}, {998, {846, 446}}, {999, {569, 1131}}}},
    {114660.07,
     5000.5,
     1251,
     142426484ULL,
     {{0, {347, 343}}, {1, {326, 337}}, {625, {341, 330}}, {1249, {352, 344}}, {1250, {341, 346}}}},
    {100.0, 90.0, 20000, 1825120ULL, {{0, {15, 13}}, {1, {3, 9}}, {10000, {11, 7}}, {19998, {7, 13}}, {19999, {8, 9}}}},
};

std::string output_of(const std::string& command) {
    std::string out;
    FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) return out;
    char buffer[4096];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
    pclose(pipe);
    return out;
}

} // namespace

TEST_CASE("legacy random words and normals are numpy's, bit for bit") {
    for (const Golden& golden : kGolden) {
        LegacyRandom words(golden.seed), normals(golden.seed);
        for (const std::uint32_t word : golden.words) CHECK(words.next_word() == word);
        for (const double normal : golden.normals) CHECK(normals.next_normal() == normal);
    }
}

TEST_CASE("normals far into the stream are numpy's") {
    LegacyRandom random(10);
    std::vector<double> normals(1000001);
    for (double& normal : normals) normal = random.next_normal();
    CHECK(normals[623] == 0x1.e91cce0a549d5p-2);
    CHECK(normals[624] == 0x1.e1b3de49ff86ep-6);
    CHECK(normals[1247] == 0x1.ec19e083a7948p-2);
    CHECK(normals[99999] == 0x1.9dc12e507ecccp-2);
    CHECK(normals[1000000] == -0x1.7cdef71b9b99fp+0);
}

TEST_CASE("a copy of the stream is a place in it, also between the two values of a pair") {
    LegacyRandom random(7);
    random.next_normal();
    LegacyRandom copy = random;
    for (int i = 0; i < 2000; ++i) REQUIRE(copy.next_normal() == random.next_normal());
}

TEST_CASE("sizes are those of the reference generator") {
    for (const GoldenSizes& golden : kGoldenSizes) {
        SizeStream stream(size_distribution(golden.record_length, golden.stdev), 10);
        std::vector<DimensionPair> pairs;
        std::uint64_t total = 0;
        for (std::uint64_t i = 0; i < golden.files; ++i) {
            pairs.push_back(stream.next());
            REQUIRE(pairs.back().first >= 1);
            REQUIRE(pairs.back().second >= 1);
            total += std::uint64_t{pairs.back().first} * pairs.back().second;
        }
        CHECK(total == golden.total_elements);
        for (const auto& [index, pair] : golden.pairs) CHECK(pairs[index] == pair);
    }
}

TEST_CASE("unet3d: the first five sizes") {
    const SizeDistribution distribution = size_distribution(146600628, 68341808);
    CHECK(distribution.dimension == 12107);
    CHECK(distribution.stdev == 2822.204974094854);
    SizeStream stream(distribution, 10);
    const std::vector<DimensionPair> expected = {
        {15865, 14125}, {7745, 12083}, {13860, 10074}, {12856, 12413}, {12119, 11614}};
    for (const DimensionPair& pair : expected) CHECK(stream.next() == pair);
}

TEST_CASE("a fractional record length: the dimension is the integer part of its root") {
    CHECK(size_distribution(114660.07, 0).dimension == 338);
    CHECK(size_distribution(114660.07, 0).stdev == 0);
    CHECK(size_distribution(1, 0).dimension == 1);
    CHECK(size_distribution(65536, 0).dimension == 256);
}

TEST_CASE("sizes against numpy itself, where it is installed") {
    for (const auto& [length, stdev, files] : std::vector<std::tuple<double, double, int>>{{146600628, 68341808, 7200},
                                                                                           {2828486, 71311, 524288 / 8},
                                                                                           {114660.07, 99999.25, 30000},
                                                                                           {3.5, 40, 10000}}) {
        const std::string script = fmt::format("import numpy as np, math\n"
                                               "np.random.seed(10)\n"
                                               "r=np.random.normal(int(math.sqrt({0})), {1}/2.0/math.sqrt({0}), {2})\n"
                                               "h=0\n"
                                               "for x in r: h=(h*1000003+max(int(x),1)) % 2**64\n"
                                               "print(h)\n",
                                               length, stdev, 2 * files);
        const std::string out = output_of("/usr/bin/python3 -c '" + script + "' 2>/dev/null");
        if (out.empty()) {
            std::puts("skipped: numpy not found");
            return;
        }
        SizeStream stream(size_distribution(length, stdev), 10);
        std::uint64_t hash = 0;
        for (int i = 0; i < files; ++i) {
            const DimensionPair pair = stream.next();
            hash = (hash * 1000003 + pair.first) * 1000003 + pair.second;
        }
        CHECK(std::stoull(out) == hash);
    }
}
