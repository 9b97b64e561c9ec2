import { formatTimestamp, Plane, type Hit } from '../../lib/name-index/index.ts'
import type { ExportedRecord } from '../export.ts'

export function nameOfHit({ segment, position }: Hit): string {
  return Buffer.from(segment.nameOf(position)).toString('latin1')
}

/** Returns what the index has of a record. */
export function recordOfHit(hit: Hit): ExportedRecord {
  const { segment, position } = hit
  const { agent, agents, registered, modified } = segment.columns
  const bit = (plane: number) => Number(segment.has(plane, position))
  const deleted = segment.deletedAt(position)
  const discarded = segment.discardedAt(position)
  return {
    name: nameOfHit(hit),
    agent: agents[agent[position] ?? 0] ?? '',
    status: bit(Plane.status),
    reserved: bit(Plane.reserved),
    revision: bit(Plane.revision),
    discarded_at: Number.isNaN(discarded) ? null : discarded,
    date_reg: formatTimestamp(registered[position] ?? NaN),
    date_mod: formatTimestamp(modified[position] ?? NaN),
    deleted_at: Number.isNaN(deleted) ? null : formatTimestamp(deleted),
  }
}
