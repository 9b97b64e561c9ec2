// AssemblyScript, not TypeScript: compiled by scripts/build-wasm.ts into src/imagestore/near-duplicates/near-wasm.ts.
// Memory is laid out by the caller (src/imagestore/near-duplicates/scan.ts); nothing is allocated here.

/**
 * Finds which of `count` 64-bit hashes at `keys` differ from a hash (given in halves) in at most `distance` bits. Writes their
 * places, 32 bits each, at `found`, which has room for all of them, and tells how many they are.
 */
export function near(keys: usize, count: i32, low: u32, high: u32, distance: i32, found: usize): i32 {
  const query = ((<u64>high) << 32) | (<u64>low)
  let matches: i32 = 0
  for (let i: i32 = 0; i < count; i++) {
    // Written each time, and kept by counting on: no branch to be guessed wrong.
    store<u32>(found + ((<usize>matches) << 2), i)
    matches += <i32>(<i32>popcnt<u64>(load<u64>(keys + ((<usize>i) << 3)) ^ query) <= distance)
  }
  return matches
}
