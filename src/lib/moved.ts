import { move, transferableSymbol, valueSymbol } from 'piscina'

/**
 * What a task returns so that `buffers`, which stand somewhere in its output, move to the caller's thread instead of being
 * copied twice on the way. The task loses them.
 */
export function moved<Output extends object>(output: Output, buffers: readonly ArrayBuffer[]): Output {
  const packed: unknown = move({ [transferableSymbol]: buffers, [valueSymbol]: output })
  // The edge to the pool, which unpacks it: what its caller gets is the output.
  return packed as Output
}
