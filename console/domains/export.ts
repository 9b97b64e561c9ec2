import { askStream } from '../api/client.ts'
import type { Filters } from './filters.ts'

/** How often progress is told. */
const TELL_EVERY_MS = 250

/** Saves every record of the view as a file, which is whole or not saved at all; `tell` hears how many lines there are. */
export async function saveExport(
  filters: Filters,
  format: 'csv' | 'ndjson',
  tell: (lines: number) => void,
): Promise<number> {
  const response = await askStream('/api/v1/domainwatch/export', { ...filters, format })
  let lines = 0
  let told = performance.now()
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
      controller.enqueue(chunk)
      if (performance.now() - told < TELL_EVERY_MS) return
      told = performance.now()
      tell(lines)
    },
  })
  const type = response.headers.get('content-type') ?? ''
  const blob = await new Response(response.body?.pipeThrough(counted), {
    headers: { 'content-type': type },
  }).blob()
  saveFile(blob, `dominios.${format}`)
  return lines
}

function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
