import { kernelsWasm } from './kernels-wasm.ts'

/** The WebAssembly API that this library uses. TypeScript declares it with the DOM only, which a server does not load. */
declare global {
  namespace WebAssembly {
    class Memory {
      constructor(descriptor: { initial: number })
      readonly buffer: ArrayBuffer
      grow(pages: number): number
    }
    class Module {
      constructor(bytes: Uint8Array)
    }
    class Instance {
      constructor(module: Module, imports: { env: { memory: Memory } })
      readonly exports: object
    }
  }
}

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
  // WebAssembly exports are untyped. `npm run generate` compiles these bytes.
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Kernels
}
