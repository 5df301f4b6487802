// share.cpp - a function and an array of the program in the hands of a script.
//     c++ share.cpp $(pkg-config --cflags --libs mare_engine) -o share
#include <mare_engine.h>

#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <vector>

static const char script[] = R"(
    function fill(depth)
        for k = 0, #depth - 1 do depth[k] = tide(k / 10) end
        return #depth
    end)";

// The height of a tide at an hour. No exception may leave it.
static mare_status tide(void *amplitude, const mare_value *arguments, uint64_t count,
                        mare_value *results, uint64_t, uint64_t *given) {
    if (count != 1 || arguments[0].kind != MARE_VALUE_NUMBER)
        return mare_error_set(MARE_ERROR_ARGUMENT, "tide: an hour is wanted");
    const double height = *static_cast<double *>(amplitude) * std::sin(arguments[0].number / 2);
    results[0] = mare_value_number(height);
    *given = 1;
    return MARE_OK;
}

class Engine {
public:
    Engine() { check(mare_engine_create(nullptr, &engine)); }
    ~Engine() { mare_engine_destroy(engine); }
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;
    operator mare_engine *() const { return engine; }
    static void check(mare_status status) {
        if (status != MARE_OK) throw std::runtime_error(mare_error_message());
    }
private:
    mare_engine *engine = nullptr;
};

int main() try {
    double amplitude = 1.5;
    std::vector<double> depth(100);
    Engine engine;
    Engine::check(mare_engine_register(engine, "tide", tide, &amplitude));
    Engine::check(mare_engine_run(engine, script, "share"));
    const mare_value lent = mare_value_array(MARE_TYPE_DOUBLE, depth.data(), depth.size());
    Engine::check(mare_engine_call(engine, "fill", &lent, 1));
    std::printf("depth[31] = %.6f\n", depth[31]);
} catch (const std::exception &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
}
