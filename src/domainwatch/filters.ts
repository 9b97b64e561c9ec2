import { Refusal } from '../core/errors.ts'
import { foldSearch } from '../core/names.ts'
import { choice, flag, integer, text, type Values } from '../http/parameters.ts'
import { MAX_PAGE, type ListRequest } from './list.ts'

/** Which records are listed, and in which order. */
export const filterParameters = {
  search: text('Only names that contain this text', 255),
  agent: flag('Look for `search` in the agent instead'),
  length: integer('Only names of this many characters', 1, 63),
  status: integer('Only records with this status', 0, 1),
  reserve: flag('Only reserved domains'),
  rev: flag('Only domains marked for review'),
  dis: flag('Only discarded domains'),
  last_register: integer('The most recently registered', 1, MAX_PAGE),
  last_deleted: integer('The most recently deleted', 1, MAX_PAGE),
  sort: choice('Order by date', ['asc', 'desc']),
}

/** @throws Refusal 400 for `agent` without `search` */
export function listRequest(values: Values<typeof filterParameters>): ListRequest {
  const { search, agent, length, status, reserve, rev, dis } = values
  if (agent && (search === undefined || search === '')) {
    throw new Refusal(400, 'El parámetro agent necesita el parámetro search')
  }
  const folded = search === undefined || agent ? undefined : foldSearch(search)
  return {
    filters: {
      search: folded?.text === '' ? undefined : folded,
      agent: agent ? search?.toLowerCase() : undefined,
      length,
      status,
      reserve,
      rev,
      dis,
    },
    lastRegister: values.last_register,
    lastDeleted: values.last_deleted,
    ascending: values.sort === 'asc',
  }
}
