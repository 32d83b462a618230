#!/usr/bin/env python3
"""Every rule of scripts/check_style.py fires on a tree that breaks it, and a tree that keeps them all is left in peace."""
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts"))
from check_style import Checker  # noqa: E402

HEADER = "// A thing.\n//\n// Thread: any. Owner: none. Units: none.\n// Errors: none.\n#pragma once\n"


def broken(files):
    with tempfile.TemporaryDirectory() as root:
        for name, content in files.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(content)
        return Checker(root).run()


class Style(unittest.TestCase):
    def fires(self, files, *words):
        found = broken(files)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def silent(self, files):
        self.assertEqual(broken(files), [])

    def test_a_good_tree(self):
        self.silent({
            "harness/types/a.hpp": HEADER,
            "harness/engine/clock_real.cpp": "void f() { clock_gettime(0, nullptr); }\n",
            "harness/engine/uring.cpp": "#include <liburing.h>\n",
            "harness/cluster/mpi.cpp": '#include <mpi.h>\n#include "harness/types/a.hpp"\n',
            "harness/cli/main.cpp": '#include "harness/types/a.hpp"\n#include "reporters/b.hpp"\nauto t = system_clock::now();\n',
            "reporters/b.hpp": HEADER + '#include "harness/types/a.hpp"\n',
            "storage/null.cpp": "// rand() and sleep() in a comment, usleep too\nauto s = \"random_device\"; x.sleep(1); co_await r.sleep_until(t);\n",
            "tests/unit/types/a_test.cpp": "TEST_CASE(\"x\") { CHECK(f()); }\n",
            "tests/integration/run.sh": "expect_status 0\n",
        })

    def test_order_of_rooms(self):
        room = {"harness/loader/l.hpp": HEADER, "harness/config/c.hpp": HEADER, "reporters/r.hpp": HEADER, "storage/b.hpp": HEADER}
        self.fires({**room, "harness/dataset/x.cpp": '#include "harness/loader/l.hpp"\n'}, "harness/dataset/x.cpp:1", "order of rooms")
        self.fires({**room, "storage/x.cpp": '#include "harness/config/c.hpp"\n'}, "storage may include only")
        self.fires({**room, "formats/x.cpp": '#include "storage/b.hpp"\n'}, "formats may include only harness/types")
        self.fires({**room, "workloads/x.cpp": '#include "reporters/r.hpp"\n'}, "harness/cli alone")
        self.fires({**room, "workloads/x.cpp": '#include "nowhere.hpp"\n'}, "not a file of this repository")
        self.fires({**room, "tests/support/s.hpp": HEADER, "workloads/x.cpp": '#include "tests/support/s.hpp"\n'}, "may not depend on tests")
        self.silent({**room, "storage/feedfs/f.hpp": HEADER, "storage/x.cpp": '#include "storage/feedfs/f.hpp"\n'})
        self.fires({**room, "storage/feedfs/x.cpp": '#include "storage/b.hpp"\n'}, "storage/feedfs may include only")

    def test_libraries_in_their_place(self):
        self.fires({"workloads/x.cpp": "#include <mpi.h>\n"}, "harness/cluster/mpi.cpp")
        self.fires({"storage/x.cpp": "#include <liburing.h>\n"}, "harness/engine/uring.cpp")

    def test_clocks_sleeps_and_chance(self):
        for line in ("clock_gettime(CLOCK_MONOTONIC, &t);", "usleep(1);", "sleep(1);", "auto t = std::chrono::steady_clock::now();",
                     "std::random_device d;", "int r = rand();", "std::this_thread::sleep_for(x);"):
            self.fires({"harness/loader/x.cpp": line + "\n"}, "virtual time")

    def test_capturing_coroutine(self):
        self.fires({"workloads/x.cpp": "auto f = [&](int i) -> Task<void> { co_return; };\n"}, "captures")
        self.fires({"workloads/x.cpp": "auto f = [this]() -> engine::Task<int> { co_return 1; };\n"}, "captures")
        self.silent({"workloads/x.cpp": "auto f = [](int i) -> engine::Task<void> { co_return; };\nauto g = [&](int i) { return i; };\n"})

    def test_names(self):
        for name in ("harness/common/a.md", "storage/string_utils.cpp", "formats/helper.cpp", "tests/unit/file-manager.sh"):
            self.fires({name: ""}, "drawer")
        self.silent({"storage/utilization.cpp": "", "harness/miscount.cpp": ""})

    def test_length_is_a_ratchet(self):
        lines = "int x;\n" * 301
        self.fires({"storage/x.cpp": lines}, "301 lines, at most 300")
        self.silent({"storage/x.cpp": lines, "scripts/long_files.txt": "storage/x.cpp 301 one table\n"})
        self.fires({"storage/x.cpp": lines + "int y;\n", "scripts/long_files.txt": "storage/x.cpp 301 one table\n"}, "302 lines, at most 301")
        self.fires({"storage/x.cpp": "int x;\n", "scripts/long_files.txt": "storage/x.cpp 301 one table\n"}, "remove its line")
        self.fires({"scripts/long_files.txt": "storage/x.cpp 301 one table\n"}, "is gone")

    def test_headers_are_contracts(self):
        self.fires({"storage/x.hpp": "#pragma once\n"}, "Thread:")
        self.fires({"storage/x.hpp": HEADER.replace("Units: none.", "")}, "lacks Units:")
        self.fires({"storage/x.hpp": HEADER.replace("#pragma once\n", "")}, "#pragma once")

    def test_tests_can_fail(self):
        self.fires({"tests/unit/types/x_test.cpp": "TEST_CASE(\"x\") { f(); }\n"}, "cannot fail")
        self.fires({"tests/unit/types/x_test.cpp": "TEST_CASE(\"x\") { CHECK(f()); }\nTEST_CASE(\"y\") { f(); }\n"}, "2 cases but 1")
        self.fires({"tests/integration/x.sh": "echo fine\n"}, "cannot fail")
        self.fires({"tests/interop/x_test.py": "print(1)\n"}, "cannot fail")

    def test_unfinished_marks(self):
        self.fires({"storage/x.cpp": "// TO" + "DO: later\n"}, "unfinished")


if __name__ == "__main__":
    unittest.main()
