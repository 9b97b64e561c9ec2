import { kernelsWasm } from './kernels-wasm.ts'

/** The functions of assembly/perceptual-hash.ts, which documents them. Pointers are offsets into the memory. */
export interface Kernels {
  reduceRows(
    source: number,
    channels: number,
    width: number,
    count: number,
    table: number,
    luma: number,
    target: number,
  ): void
  findNear(keys: number, count: number, low: number, high: number, distance: number, found: number): number
}

export function instantiateKernels(memory: WebAssembly.Memory): Kernels {
  const module = new WebAssembly.Module(Buffer.from(kernelsWasm, 'base64'))
  // WebAssembly exports are untyped. scripts/build-wasm.ts compiles these bytes.
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Kernels
}
