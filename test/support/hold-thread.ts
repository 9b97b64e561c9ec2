/** A task that holds its thread. @param gate counts the threads that are held; they end when the second number is not 0 */
export default function holdThread(gate: Int32Array<SharedArrayBuffer>): string {
  Atomics.add(gate, 0, 1)
  Atomics.notify(gate, 0)
  Atomics.wait(gate, 1, 0)
  return 'done'
}
