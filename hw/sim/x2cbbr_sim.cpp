// A C interface to the verilated matcher: one clock, the handshakes of its two buses, bounded waits.
//
// A call drives the inputs, ticks the clock until the device has answered, and returns 0 or a code below. The caller
// knows the registers; this file knows only AXI. Memories are found by the names that the RTL marks as public.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Vx2cbbr.h"
#include "verilated.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif

namespace {

enum Outcome : int { FINE = 0, NO_ANSWER = 1, BUS_ERROR = 2, NO_SUCH_CELL = 3, NO_TRACE = 4 };

constexpr uint64_t PATIENCE = 1000000;  // cycles: no command and no match takes a hundredth of this
constexpr int RESET = 8;                // cycles

// One memory of the design, which may be spread over instances of a module: row r is in part r / rows of a part
// (banks), or in part r % parts (lanes).
struct Memory {
    std::vector<const VerilatedVar*> parts;
    uint32_t width;  // bits of a row
    bool interleaved;

    size_t rows_of_part() const { return parts.empty() ? 0 : static_cast<size_t>(parts[0]->elements(1)); }

    int flip(uint32_t row, uint32_t bit) const {
        const size_t rows = rows_of_part();
        if (row >= rows * parts.size() || bit >= width) return NO_SUCH_CELL;
        const VerilatedVar* part = parts[interleaved ? row % parts.size() : row / rows];
        const size_t index = interleaved ? row / parts.size() : row % rows;
        // all of Verilator's types have the low byte first in memory, on a little-endian machine
        static_cast<uint8_t*>(part->datap())[index * part->entSize() + bit / 8] ^= 1U << (bit % 8);
        return FINE;
    }
};

// Sets the thread's context for its own lifetime. A model enters the names of its memories into the thread's context,
// not into its own, and removes them from there when it ends. With one context for all models, the second would find
// the memories of the first.
class Current {
public:
    explicit Current(VerilatedContext& context) : before{Verilated::threadContextp()} {
        Verilated::threadContextp(&context);
    }
    ~Current() { Verilated::threadContextp(before); }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

private:
    VerilatedContext* before;
};

}  // namespace

class X2cbbrSim {
public:
    X2cbbrSim() {
#if VM_TRACE
        context.traceEverOn(true);
#endif
        const Current here{context};
        model = std::make_unique<Vx2cbbr>(&context);
        model->aclk = 0;
        model->aresetn = 0;
        tick(RESET);
        model->aresetn = 1;
        tick(1);
        filters = memory(".entries", "filter_reg", 32, false);
        contexts = memory(".boxes", "memory", 129, true);
    }

    ~X2cbbrSim() {
        const Current here{context};
        untrace();
        model->final();
        model.reset();
    }

    void tick(uint64_t cycles) {
        for (; cycles > 0; --cycles) {
            edge(1);
            edge(0);
            ++count;
        }
    }

    int write(uint32_t address, uint32_t value) {
        model->s_axi_awaddr = address;
        model->s_axi_awvalid = 1;
        model->s_axi_wdata = value;
        model->s_axi_wstrb = 0xF;
        model->s_axi_wvalid = 1;
        model->s_axi_bready = 1;
        // address and data may be accepted in different cycles
        const bool answered = until([this] {
            const bool address_taken = model->s_axi_awvalid && model->s_axi_awready;
            const bool data_taken = model->s_axi_wvalid && model->s_axi_wready;
            const bool over = model->s_axi_bvalid;
            const uint8_t response = model->s_axi_bresp;
            tick(1);
            if (address_taken) model->s_axi_awvalid = 0;
            if (data_taken) model->s_axi_wvalid = 0;
            if (over) outcome = response == 0 ? FINE : BUS_ERROR;
            return over;
        });
        model->s_axi_awvalid = model->s_axi_wvalid = model->s_axi_bready = 0;
        model->eval();
        return answered ? outcome : NO_ANSWER;
    }

    int read(uint32_t address, uint32_t* value) {
        model->s_axi_araddr = address;
        model->s_axi_arvalid = 1;
        model->s_axi_rready = 1;
        const bool answered = until([this, value] {
            const bool address_taken = model->s_axi_arvalid && model->s_axi_arready;
            const bool over = model->s_axi_rvalid;
            const uint8_t response = model->s_axi_rresp;
            if (over) *value = model->s_axi_rdata;
            tick(1);
            if (address_taken) model->s_axi_arvalid = 0;
            if (over) outcome = response == 0 ? FINE : BUS_ERROR;
            return over;
        });
        model->s_axi_arvalid = model->s_axi_rready = 0;
        model->eval();
        return answered ? outcome : NO_ANSWER;
    }

    int send(const uint32_t* words, uint32_t number) {
        bool taken = true;
        model->s_axis_tvalid = 1;
        for (uint32_t i = 0; i < number && taken; ++i) {
            model->s_axis_tdata = words[i];
            model->s_axis_tlast = i + 1 == number;
            taken = until([this] {
                const bool ready = model->s_axis_tready;
                tick(1);
                return ready;
            });
        }
        model->s_axis_tvalid = model->s_axis_tlast = 0;
        model->eval();
        return taken ? FINE : NO_ANSWER;
    }

    int flip(const Memory& memory, uint32_t row, uint32_t bit) {
        const int flipped = memory.flip(row, bit);
        tick(1);  // signals that depend on the memory are evaluated with the next edge
        return flipped;
    }

    int trace(const char* path) {
#if VM_TRACE
        untrace();
        waves = std::make_unique<VerilatedVcdC>();
        model->trace(waves.get(), 99);
        waves->open(path);
        return waves->isOpen() ? FINE : NO_TRACE;
#else
        (void)path;
        return NO_TRACE;
#endif
    }

    void untrace() {
#if VM_TRACE
        if (waves) waves->close();
        waves.reset();
#endif
    }

    uint64_t count = 0;  // cycles
    Memory filters;      // of the CAM
    Memory contexts;     // rows of the contextManager

private:
    void edge(int level) {
        model->aclk = level;
        model->eval();
#if VM_TRACE
        if (waves) waves->dump(2 * count + (level == 0));
#endif
    }

    template <typename Step>
    bool until(Step step) {
        model->eval();  // inputs have changed: evaluate the outputs of this cycle
        for (uint64_t waited = 0; waited < PATIENCE; ++waited)
            if (step()) return true;
        return false;
    }

    // The memory in all instances whose path ends with `end`, in the order of their numbers: bank[2] before bank[10].
    Memory memory(const std::string& end, const char* name, uint32_t width, bool interleaved) {
        std::vector<std::pair<std::string, const VerilatedVar*>> found;
        for (const auto& [path, scope] : *context.scopeNameMap()) {
            const std::string instance{path};
            if (instance.size() < end.size() || instance.compare(instance.size() - end.size(), end.size(), end)) continue;
            if (const VerilatedVar* part = scope->varFind(name)) found.emplace_back(instance, part);
        }
        std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
            return a.first.size() != b.first.size() ? a.first.size() < b.first.size() : a.first < b.first;
        });
        Memory made{{}, width, interleaved};
        for (const auto& each : found) made.parts.push_back(each.second);
        return made;
    }

    VerilatedContext context;
    std::unique_ptr<Vx2cbbr> model;
    int outcome = FINE;
#if VM_TRACE
    std::unique_ptr<VerilatedVcdC> waves;
#endif
};

extern "C" {

X2cbbrSim* x2cbbr_new() { return new X2cbbrSim; }
void x2cbbr_delete(X2cbbrSim* sim) { delete sim; }
void x2cbbr_tick(X2cbbrSim* sim, uint64_t cycles) { sim->tick(cycles); }
uint64_t x2cbbr_cycles(const X2cbbrSim* sim) { return sim->count; }
int x2cbbr_write(X2cbbrSim* sim, uint32_t address, uint32_t value) { return sim->write(address, value); }
int x2cbbr_read(X2cbbrSim* sim, uint32_t address, uint32_t* value) { return sim->read(address, value); }
int x2cbbr_send(X2cbbrSim* sim, const uint32_t* words, uint32_t number) { return sim->send(words, number); }
int x2cbbr_flip_filter(X2cbbrSim* sim, uint32_t entry, uint32_t bit) { return sim->flip(sim->filters, entry, bit); }
int x2cbbr_flip_context(X2cbbrSim* sim, uint32_t row, uint32_t bit) { return sim->flip(sim->contexts, row, bit); }
int x2cbbr_trace(X2cbbrSim* sim, const char* path) { return sim->trace(path); }

}  // extern "C"
