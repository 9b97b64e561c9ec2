// AssemblyScript, not TypeScript: compiled by npm run generate into src/lib/perceptual-hash/kernels-wasm.ts.
// The callers (dhash.ts and scan.ts there) lay out the memory; nothing is allocated here.

const OUTPUTS: i32 = 9
// Addresses of vectors that the caller writes. A constant in the code would be rebuilt in every iteration of the loop; a
// value loaded before the loop stays in its register.
/** Mask: spreads the bytes of four RGB pixels to four bytes each, the last one 0. */
const SPREAD: usize = 0
const RED_BLUE: usize = 16
const HALF_GREEN: usize = 32
const LOW_BYTES: usize = 48
const HALF: usize = 64
const ROUNDING: i32 = 1 << 21
const PRECISION_BITS: i32 = 22

// ITU-R 601 with 16 fractional bits: (R*19595 + G*38470 + B*7471 + 0x8000) >> 16. 38470 does not fit a signed 16-bit lane,
// so its half is used and the product added twice.
/** Converts four pixels of four bytes to 32-bit luma. */
function luma4(pixels: v128, low: v128, redBlue: v128, halfGreen: v128, half: v128): v128 {
  const ends = i32x4.dot_i16x8_s(v128.and(pixels, low), redBlue)
  const green = i32x4.dot_i16x8_s(i16x8.shr_u(pixels, 8), halfGreen)
  const sum = i32x4.add(i32x4.add(ends, half), i32x4.add(green, green))
  return i32x4.shr_u(sum, 16)
}

/** Converts `pixels` pixels at `source` to 16-bit luma at `target`. Reads and writes up to 31 bytes past either end. */
function toLuma(source: usize, channels: i32, target: usize, pixels: i32): void {
  const low = v128.load(LOW_BYTES)
  const redBlue = v128.load(RED_BLUE)
  const halfGreen = v128.load(HALF_GREEN)
  const half = v128.load(HALF)
  if (channels == 3) {
    const spread = v128.load(SPREAD)
    for (let i: i32 = 0; i < pixels; i += 8) {
      v128.store(
        target,
        i16x8.narrow_i32x4_s(
          luma4(v128.swizzle(v128.load(source), spread), low, redBlue, halfGreen, half),
          luma4(v128.swizzle(v128.load(source, 12), spread), low, redBlue, halfGreen, half),
        ),
      )
      source += 24
      target += 16
    }
  } else if (channels == 4) {
    for (let i: i32 = 0; i < pixels; i += 8) {
      v128.store(target, i16x8.narrow_i32x4_s(luma4(v128.load(source), low, redBlue, halfGreen, half), luma4(v128.load(source, 16), low, redBlue, halfGreen, half)))
      source += 32
      target += 16
    }
  } else {
    for (let i: i32 = 0; i < pixels; i++) {
      store<i16>(target, <i16>load<u8>(source))
      source += channels
      target += 2
    }
  }
}

function total(sum: v128): i32 {
  return (
    i32x4.extract_lane(sum, 0) +
    i32x4.extract_lane(sum, 1) +
    i32x4.extract_lane(sum, 2) +
    i32x4.extract_lane(sum, 3)
  )
}

function dot(luma: usize, weights: usize, end: usize): i32 {
  let a = i32x4.splat(0)
  let b = i32x4.splat(0)
  do {
    a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load(luma), v128.load(weights)))
    b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load(luma, 16), v128.load(weights, 16)))
    a = i32x4.add(a, i32x4.dot_i16x8_s(v128.load(luma, 32), v128.load(weights, 32)))
    b = i32x4.add(b, i32x4.dot_i16x8_s(v128.load(luma, 48), v128.load(weights, 48)))
    luma += 64
    weights += 64
  } while (weights < end)
  return total(i32x4.add(a, b))
}

/**
 * Reduces `count` rows of `width` pixels to nine bytes each at `target`.
 * `table` holds nine records of four 32-bit integers: first pixel, address of the low halves of the weights, address just
 * past them, address of the high halves (0 if all are zero). A weight is high * 65536 + low; sums wrap modulo 2^32, the
 * total fits.
 */
export function reduceRows(
  source: usize,
  channels: i32,
  width: i32,
  count: i32,
  table: usize,
  luma: usize,
  target: usize,
): void {
  for (let y: i32 = 0; y < count; y++) {
    toLuma(source, channels, luma, width)
    // The vector loop may read past the row, where the weights are zero.
    for (let x: i32 = 0; x < OUTPUTS; x++) {
      const record = table + ((<usize>x) << 4)
      const first = luma + ((<usize>load<i32>(record)) << 1)
      const low = <usize>load<u32>(record, 4)
      const end = <usize>load<u32>(record, 8)
      const high = <usize>load<u32>(record, 12)
      let sum = ROUNDING + dot(first, low, end)
      if (high) sum += dot(first, high, high + (end - low)) << 16
      sum >>= PRECISION_BITS
      store<u8>(target++, <u8>max(0, min(255, sum)))
    }
    source += <usize>(width * channels)
  }
}

/**
 * Finds which of `count` 64-bit hashes at `keys` differ from a hash (given in halves) in at most `distance` bits. Writes
 * their indices, 32 bits each, to `found`, which has room for all of them. Returns how many there are.
 */
export function findNear(keys: usize, count: i32, low: u32, high: u32, distance: i32, found: usize): i32 {
  const query = ((<u64>high) << 32) | (<u64>low)
  let matches: i32 = 0
  for (let i: i32 = 0; i < count; i++) {
    // Always written, and kept by incrementing the count: no branch that could be mispredicted.
    store<u32>(found + ((<usize>matches) << 2), i)
    matches += <i32>(<i32>popcnt<u64>(load<u64>(keys + ((<usize>i) << 3)) ^ query) <= distance)
  }
  return matches
}
