/* What the processor can do: a module with the single function has_avx2(). */
#include <Python.h>

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <windows.h>
static int has_avx2(void) { return IsProcessorFeaturePresent(PF_AVX2_INSTRUCTIONS_AVAILABLE); }
#elif defined(__x86_64__)
static int has_avx2(void) {
    /* The level x86-64-v3, which the kernels are compiled for, has all of these. */
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
        && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#else
static int has_avx2(void) { return 0; }
#endif

static PyObject *answer(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    return PyBool_FromLong(has_avx2());
}

static PyMethodDef methods[] = {
    {"has_avx2", answer, METH_NOARGS, "Whether the processor has AVX2 and what comes with it."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "processor", "What the processor can do.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_processor(void) { return PyModuleDef_Init(&definition); }
