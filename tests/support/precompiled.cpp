// Nothing but a place for the precompiled header of all tests to belong to.
int feedbench_precompiled_tests = 0;
