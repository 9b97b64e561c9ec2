import { isBlobKey } from '../../storage/blobs/blob-store.ts'
import { isCalendarDateTime } from '../../lib/dates.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import type { Query } from '../../storage/database/sql.ts'
import { isImageHash } from '../../imagestore/hash.ts'
import type { blobsAfter, domainsAfter, imagesAfter } from './queries.ts'

type Row<Page extends (...parameters: never[]) => Query> = ReturnType<Page>['row']

/** What is wrong with a row: what the service itself would not have written. Undefined where nothing is. */

export function domainFault(row: Row<typeof domainsAfter>): string | undefined {
  const label = parseLabel(row.name)
  const deletedAt = row.status === 0 ? (row.released_at ?? row.date_reg) : null
  return faultOf(`domain ${row.name}`, {
    'its name is none': label.ok && label.name === row.name,
    'its A-label form is another': label.ok && row.ascii === (label.ascii === row.name ? null : label.ascii),
    'its length is not its number of characters': row.length === [...row.name].length,
    'its agent and the folded one differ': row.agent_folded === row.agent.toLowerCase(),
    'a mark is neither 0 nor 1': [row.status, row.reserved, row.revision].every(
      (bit) => bit === 0 || bit === 1,
    ),
    'a date is none': isCalendarDateTime(row.date_reg) && isCalendarDateTime(row.date_mod),
    'its time of deletion does not follow from the rest': row.deleted_at === deletedAt,
  })
}

export function imageFault(row: Row<typeof imagesAfter>): string | undefined {
  return faultOf(`image ${row.hash} of account ${row.account_id}`, {
    'there is no record of its bytes': row.blob !== null,
    'its account is none of image hosting': row.service === 'imagestore',
    'its name and the folded one differ': row.name_folded === row.name.toLowerCase(),
  })
}

export function blobFault(row: Row<typeof blobsAfter>): string | undefined {
  return faultOf(`blob ${isBlobKey(row.key) ? row.key : JSON.stringify(row.key)}`, {
    'its hash is none': isImageHash(row.hash),
    'its key is none': isBlobKey(row.key),
    'its key does not begin with its hash': row.key.startsWith(`${row.hash}.`),
    'a measure is not positive': [row.size, row.width, row.height, row.frames].every(
      (measure) => measure > 0,
    ),
    'its dhash is none': /^[0-9a-f]{16}$/.test(row.dhash),
    'no image holds it': row.is_held === 1,
    'it is to be removed, and in use': row.is_trash === 0,
  })
}

function faultOf(what: string, holds: Readonly<Record<string, boolean>>): string | undefined {
  const faults = Object.keys(holds).filter((claim) => holds[claim] === false)
  return faults.length === 0 ? undefined : `${what}: ${faults.join('; ')}`
}
