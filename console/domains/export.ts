import { askStream } from '../api/client.ts'
import type { Filters } from './filters.ts'

/** Saves every record of the view as a file. It is whole or not saved at all. */
export async function saveExport(filters: Filters, format: 'csv' | 'ndjson'): Promise<number> {
  const response = await askStream('/api/v1/domainwatch/export', { ...filters, format })
  const blob = await response.blob()
  saveFile(blob, `dominios.${format}`)
  return linesIn(blob)
}

function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

async function linesIn(blob: Blob): Promise<number> {
  const bytes = new Uint8Array(await blob.arrayBuffer())
  return bytes.reduce((lines, byte) => (byte === 10 ? lines + 1 : lines), 0)
}
