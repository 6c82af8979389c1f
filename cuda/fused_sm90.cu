/* SPDX-License-Identifier: LGPL-3.0-or-later
 *
 * int8 products whose sums are reduced on the chip: for every plane z, bytes out_z = A_z B_z mod m_z, for
 * compute capability 9.0.  Against cuBLAS's int32 sums a quarter of the bytes are written, and a quarter read
 * again by the recombination.  On an H200, ten planes of 8192 x 8192 x 8192: 7.4 to 7.7 ms against 10.3 ms.
 *
 * Two blocks, a cluster, work on 256 x 256 of C; each has 128 rows of A of its own, and half of B's 256
 * columns, which the copy engine multicasts to both.  In each block one warp group fills a ring of stages, and two
 * multiply 64 x 256 each by wgmma (PTX ISA, "Asynchronous warpgroup level matrix instructions").  The grid is
 * persistent: clusters take tiles in an order that keeps neighbours' operands in the L2 cache.
 */
#include "kernels_i8.h"

#include <algorithm>

#ifdef NMODGPU_BUILD_SM90A /* set where this file is compiled for sm_90a */

namespace
{

constexpr int tile_rows = 128, tile_cols = 256, tile_inner = 128; /* of a block */
constexpr int stages = 4;
constexpr int a_bytes = tile_rows * tile_inner, b_bytes = tile_cols * tile_inner, stage_bytes = a_bytes + b_bytes;
constexpr int shared_bytes = stages * stage_bytes + 1024; /* 1024: alignment of the swizzled tiles */
constexpr int threads = 384;
constexpr int group_rows = 8; /* cluster tiles of one column that are taken one after another */

struct fused_shape {
    uint8_t *out;
    int64_t out_stride, out_plane_stride;
    int rows, cols, inner, planes;
    bool accumulate;
};

struct fused_moduli {
    uint32_t m[NMODGPU_MAX_PLANES], magic[NMODGPU_MAX_PLANES], offset[NMODGPU_MAX_PLANES];
};

/* ---- barriers, copies and products of the PTX ISA, one instruction each */

__device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

__device__ __forceinline__ void barrier_init(uint32_t barrier, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

__device__ __forceinline__ void barrier_expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_wait(uint32_t barrier, uint32_t parity)
{
    asm volatile("{\n.reg .pred done;\n"
                 "again:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@done bra finished;\nbra again;\nfinished:\n}" ::"r"(barrier),
                 "r"(parity)
                 : "memory");
}

/** Arrives at the same barrier in a block of the cluster. */
__device__ __forceinline__ void barrier_arrive_at(uint32_t barrier, uint32_t block)
{
    asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
                 "r"(block)
                 : "memory");
}

__device__ __forceinline__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/** A tile of a three-dimensional tensor to shared memory; the barrier counts its bytes. */
__device__ __forceinline__ void copy_tile(uint32_t to, const CUtensorMap *map, uint32_t barrier, int x, int y,
                                          int z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

/** The same into both blocks of the cluster. */
__device__ __forceinline__ void copy_tile_to_both(uint32_t to, const CUtensorMap *map, uint32_t barrier, int x,
                                                  int y, int z)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"((uint16_t)3)
                 : "memory");
}

/** wgmma's description of a tile of 128-byte rows, swizzled by 128 bytes: groups of eight rows 1024 bytes apart. */
__device__ __forceinline__ uint64_t tile_descriptor(uint32_t address)
{
    return (uint64_t)((address & 0x3FFFF) >> 4) | (uint64_t)1 << 16 | (uint64_t)64 << 32 | (uint64_t)1 << 62;
}

/** d (64 x 256 of a warp group) <- (accumulate ? d : 0) + A (64 x 32) B (32 x 256). */
__device__ __forceinline__ void multiply(int (&d)[128], uint64_t a, uint64_t b, int accumulate)
{
    // clang-format off
    asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, add;\n}\n"
                 :
                 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]),
                 "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]),
                 "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]),
                 "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]),
                 "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]),
                 "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]),
                 "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]),
                 "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63]),
                 "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]), "+r"(d[68]), "+r"(d[69]), "+r"(d[70]), "+r"(d[71]),
                 "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]), "+r"(d[76]), "+r"(d[77]), "+r"(d[78]), "+r"(d[79]),
                 "+r"(d[80]), "+r"(d[81]), "+r"(d[82]), "+r"(d[83]), "+r"(d[84]), "+r"(d[85]), "+r"(d[86]), "+r"(d[87]),
                 "+r"(d[88]), "+r"(d[89]), "+r"(d[90]), "+r"(d[91]), "+r"(d[92]), "+r"(d[93]), "+r"(d[94]), "+r"(d[95]),
                 "+r"(d[96]), "+r"(d[97]), "+r"(d[98]), "+r"(d[99]), "+r"(d[100]), "+r"(d[101]), "+r"(d[102]), "+r"(d[103]),
                 "+r"(d[104]), "+r"(d[105]), "+r"(d[106]), "+r"(d[107]), "+r"(d[108]), "+r"(d[109]), "+r"(d[110]), "+r"(d[111]),
                 "+r"(d[112]), "+r"(d[113]), "+r"(d[114]), "+r"(d[115]), "+r"(d[116]), "+r"(d[117]), "+r"(d[118]), "+r"(d[119]),
                 "+r"(d[120]), "+r"(d[121]), "+r"(d[122]), "+r"(d[123]), "+r"(d[124]), "+r"(d[125]), "+r"(d[126]), "+r"(d[127])
                 : "l"(a), "l"(b), "r"(accumulate));
    // clang-format on
}

/* ---- the kernel's parts */

/** Which part of the work a cluster does next. */
struct place {
    int plane, row, col; /* row and col in cluster tiles of 256 x 256 */
};

struct order {
    int down, across, per_plane, total;

    __device__ order(const fused_shape &s)
    {
        down = (s.rows + 2 * tile_rows - 1) / (2 * tile_rows);
        across = (s.cols + tile_cols - 1) / tile_cols;
        per_plane = down * across;
        total = per_plane * s.planes;
    }

    __device__ place at(int index) const
    {
        const int plane = index / per_plane, i = index % per_plane;
        const int group = i / (group_rows * across), inside = i - group * group_rows * across;
        const int height = min(group_rows, down - group * group_rows);
        return {plane, group * group_rows + inside % height, inside / height};
    }
};

/** A position in the ring of stages. */
struct ring {
    int stage = 0;
    uint32_t parity = 0;

    __device__ __forceinline__ void next()
    {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/** One thread: fills the stages for all tiles of its cluster. */
__device__ void produce(const CUtensorMap *a, const CUtensorMap *b, const fused_shape &s, uint32_t base,
                        uint32_t full, uint32_t empty, uint32_t rank)
{
    const order work(s);
    const int steps = (s.inner + tile_inner - 1) / tile_inner;
    ring at;
    for (int index = blockIdx.x / 2; index < work.total; index += gridDim.x / 2) {
        const place p = work.at(index);
        const int row = p.row * 2 * tile_rows + rank * tile_rows, col = p.col * tile_cols + rank * (tile_cols / 2);
        for (int step = 0; step < steps; step++) {
            const uint32_t ready = full + 8 * at.stage, to = base + at.stage * stage_bytes;
            barrier_wait(empty + 8 * at.stage, at.parity ^ 1);
            barrier_expect(ready, stage_bytes);
            copy_tile(to, a, ready, step * tile_inner, row, p.plane);
            copy_tile_to_both(to + a_bytes + rank * (b_bytes / 2), b, ready, step * tile_inner, col, p.plane);
            at.next();
        }
    }
}

/** Tells both producers that a stage has been read. */
__device__ __forceinline__ void release(uint32_t empty, int stage, bool leader)
{
    if (leader) {
        barrier_arrive_at(empty + 8 * stage, 0);
        barrier_arrive_at(empty + 8 * stage, 1);
    }
}

/** Two residues of neighbouring columns in 16 bits. */
__device__ __forceinline__ uint32_t pair_of(int first, int second, uint32_t m, uint32_t magic, uint32_t offset)
{
    return nmodgpu_residue_of_sum(first, m, magic, offset) | nmodgpu_residue_of_sum(second, m, magic, offset) << 8;
}

/** Lane q of four neighbours holds v[e], columns 8 e + 2 q and + 1; afterwards all eight columns of e = q. */
__device__ __forceinline__ uint2 gather_quad(const uint32_t (&v)[4], int q)
{
    const uint32_t lower = v[0] | v[1] << 16, upper = v[2] | v[3] << 16;
    const uint32_t got = __shfl_xor_sync(~0u, q & 2 ? lower : upper, 2);
    const uint32_t near = q & 2 ? got : lower, far = q & 2 ? upper : got; /* from lanes q & 1 and (q & 1) + 2 */
    const uint32_t low = __byte_perm(near, far, 0x5410), high = __byte_perm(near, far, 0x7632);
    const uint32_t other = __shfl_xor_sync(~0u, q & 1 ? low : high, 1);
    const uint32_t even = q & 1 ? other : low, odd = q & 1 ? high : other; /* lanes 0, 2 and lanes 1, 3 */
    return make_uint2(__byte_perm(even, odd, 0x5410), __byte_perm(even, odd, 0x7632));
}

/** x + y mod m in each byte, all in [0, m). */
__device__ __forceinline__ uint32_t add_bytes(uint32_t x, uint32_t y, uint32_t m)
{
    uint32_t sum = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const uint32_t s = (x >> 8 * j & 255) + (y >> 8 * j & 255);
        sum |= min(s, s - m) << 8 * j;
    }
    return sum;
}

/** Reduces and stores a warp group's 64 x 256 sums. */
__device__ __forceinline__ void store(const int (&sum)[128], const fused_shape &s, const fused_moduli &moduli,
                                      const place &p, int first_row)
{
    const uint32_t m = moduli.m[p.plane], magic = moduli.magic[p.plane], offset = moduli.offset[p.plane];
    const int lane = threadIdx.x % 32, q = lane % 4;
    const int row = first_row + threadIdx.x / 32 % 4 * 16 + lane / 4;
    uint8_t *out = s.out + p.plane * s.out_plane_stride;
#pragma unroll
    for (int part = 0; part < 8; part++) {
        const int col = p.col * tile_cols + part * 32 + q * 8;
#pragma unroll
        for (int below = 0; below < 2; below++) {
            uint32_t pairs[4];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int i = (part * 4 + e) * 4 + below * 2;
                pairs[e] = pair_of(sum[i], sum[i + 1], m, magic, offset);
            }
            uint2 bytes = gather_quad(pairs, q);
            if (row + below * 8 < s.rows && col < s.cols) {
                uint2 *to = reinterpret_cast<uint2 *>(out + (row + below * 8) * s.out_stride + col);
                if (s.accumulate) {
                    const uint2 old = *to;
                    bytes = make_uint2(add_bytes(bytes.x, old.x, m), add_bytes(bytes.y, old.y, m));
                }
                *to = bytes;
            }
        }
    }
}

/** A warp group: multiplies 64 rows of every tile of its cluster. */
__device__ void consume(const fused_shape &s, const fused_moduli &moduli, uint32_t base, uint32_t full,
                        uint32_t empty, uint32_t rank, int group)
{
    const order work(s);
    const int steps = (s.inner + tile_inner - 1) / tile_inner;
    const bool leader = threadIdx.x % 128 == 0;
    ring at;
    int sum[128];
    for (int index = blockIdx.x / 2; index < work.total; index += gridDim.x / 2) {
        const place p = work.at(index);
        int previous = -1;
        for (int step = 0; step < steps; step++) {
            barrier_wait(full + 8 * at.stage, at.parity);
            const uint32_t tile = base + at.stage * stage_bytes;
            const uint64_t a = tile_descriptor(tile + group * 64 * tile_inner), b = tile_descriptor(tile + a_bytes);
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int part = 0; part < 4; part++) /* 32 bytes on: 2 in the descriptor's units */
                multiply(sum, a + 2 * part, b + 2 * part, (step | part) != 0);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
            if (previous >= 0)
                release(empty, previous, leader);
            previous = at.stage;
            at.next();
        }
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
        for (int i = 0; i < 128; i++) /* the sums are there only now */
            asm volatile("" : "+r"(sum[i])::"memory");
        release(empty, previous, leader);
        store(sum, s, moduli, p, p.row * 2 * tile_rows + rank * tile_rows + group * 64);
    }
}

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(threads, 1)
    fused_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 const __grid_constant__ fused_shape s, const __grid_constant__ fused_moduli moduli)
{
    extern __shared__ uint8_t memory[];
    __shared__ __align__(8) uint64_t full[stages], empty[stages];
    const uint32_t base = (shared_address(memory) + 1023) & ~1023u;
    const int group = threadIdx.x / 128;
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; i++) {
            barrier_init(shared_address(&full[i]), 1);
            barrier_init(shared_address(&empty[i]), 4); /* two warp groups in two blocks */
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_sync();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            produce(&a, &b, s, base, shared_address(full), shared_address(empty), rank);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        consume(s, moduli, base, shared_address(full), shared_address(empty), rank, group - 1);
    }
    cluster_sync(); /* nobody leaves while the other block's copies and arrivals may still come in */
}

/* ---- the host's part */

typedef CUresult (*encode_function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                    const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                                    CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                    CUtensorMapFloatOOBfill);

encode_function find_encode()
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    const cudaError_t error =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t error =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    return error == cudaSuccess && found == cudaDriverEntryPointSuccess ? (encode_function)function : nullptr;
}

encode_function encode()
{
    static const encode_function function = find_encode();
    return function;
}

/** What lies past the window's end in a tile reads as zeros. */
cudaError_t describe(CUtensorMap *map, const int8_t *data, int64_t inner, int64_t rows, uint32_t planes,
                     int64_t stride, int64_t plane_stride)
{
    const cuuint64_t sizes[3] = {(cuuint64_t)inner, (cuuint64_t)rows, planes};
    const cuuint64_t strides[2] = {(cuuint64_t)stride, (cuuint64_t)(planes > 1 ? plane_stride : rows * stride)};
    const cuuint32_t box[3] = {tile_inner, tile_rows, 1}, steps[3] = {1, 1, 1};
    static_assert(tile_rows == tile_cols / 2, "both operands come in boxes of the same shape");
    const CUresult result = encode()(map, CU_TENSOR_MAP_DATA_TYPE_UINT8, 3, const_cast<int8_t *>(data), sizes,
                                     strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                     CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return (cudaError_t)result; /* the driver's codes are the runtime's */
}

/** Clusters that the device runs at once; 0 where the kernel cannot run. */
int clusters_of_device()
{
    cudaLaunchConfig_t configuration = {};
    cudaLaunchAttribute attribute = {};
    int clusters = 0;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    configuration.gridDim = dim3(2);
    configuration.blockDim = dim3(threads);
    configuration.dynamicSmemBytes = shared_bytes;
    configuration.attrs = &attribute;
    configuration.numAttrs = 1;
    if (cudaFuncSetAttribute(fused_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes) !=
            cudaSuccess ||
        cudaOccupancyMaxActiveClusters(&clusters, fused_kernel, &configuration) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return clusters;
}

/** The same, asked once a device. */
int clusters_here()
{
    constexpr int remembered = 64;
    static int known[remembered]; /* 0: not asked yet; otherwise one more than the answer */
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess)
        return 0;
    if (device >= remembered)
        return clusters_of_device();
    int answer = __atomic_load_n(&known[device], __ATOMIC_RELAXED);
    if (answer == 0) {
        answer = clusters_of_device() + 1;
        __atomic_store_n(&known[device], answer, __ATOMIC_RELAXED);
    }
    return answer - 1;
}

} // namespace

bool nmodgpu_fused_available(void)
{
    return true;
}

cudaError_t nmodgpu_launch_fused(cudaStream_t stream, const nmodgpu_fused_pass *pass)
{
    if (pass->rows == 0 || pass->cols == 0 || pass->planes == 0)
        return cudaSuccess;
    if (pass->inner == 0 || pass->inner > INT32_MAX / (128 * 128))
        return cudaErrorInvalidValue;
    const int clusters = encode() ? clusters_here() : 0;
    if (clusters == 0)
        return cudaErrorNotSupported;
    CUtensorMap a, b;
    cudaError_t error =
        describe(&a, pass->a, pass->inner, pass->rows, pass->planes, pass->a_stride, pass->a_plane_stride);
    if (error == cudaSuccess)
        error = describe(&b, pass->b, pass->inner, pass->cols, pass->planes, pass->b_stride, pass->b_plane_stride);
    if (error != cudaSuccess)
        return error;
    fused_shape shape = {pass->out,       pass->out_stride, pass->out_plane_stride, (int)pass->rows,
                         (int)pass->cols, (int)pass->inner, (int)pass->planes,      pass->accumulate};
    fused_moduli moduli;
    for (uint32_t i = 0; i < pass->planes; i++) {
        moduli.m[i] = pass->m[i];
        moduli.magic[i] = pass->magic[i];
        moduli.offset[i] = pass->offset[i];
    }
    const int64_t tiles = (pass->rows + 2 * tile_rows - 1) / (2 * tile_rows) *
                          ((pass->cols + tile_cols - 1) / tile_cols) * pass->planes;
    const unsigned blocks = 2 * (unsigned)std::min<int64_t>(tiles, clusters);
    void *arguments[] = {&a, &b, &shape, &moduli};
    return cudaLaunchKernel(reinterpret_cast<const void *>(fused_kernel), dim3(blocks), dim3(threads), arguments,
                            shared_bytes, stream);
}

#else /* a build without sm_90 */

bool nmodgpu_fused_available(void)
{
    return false;
}

cudaError_t nmodgpu_launch_fused(cudaStream_t, const nmodgpu_fused_pass *)
{
    return cudaErrorNotSupported;
}

#endif
