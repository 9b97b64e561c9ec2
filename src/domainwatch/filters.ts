import { isCalendarDateTime } from '../lib/dates.ts'
import { HttpError } from '../lib/errors.ts'
import { foldSearch, type SearchText } from '../lib/domain-names.ts'
import { choice, flag, integer, text, type Parameter, type Values } from '../http/parameters.ts'
import { MAX_PAGE, type ListRequest } from './list.ts'

const MAX_TEXT = 255

/** Which records are listed, and in which order. */
export const filterParameters = {
  search: text('Only names that contain this text', MAX_TEXT),
  agent: flag('Look for `search` in the agent instead'),
  starts: text('Only names that begin with this text', MAX_TEXT),
  ends: text('Only names that end with this text', MAX_TEXT),
  pattern: text('Only names like this: `*` stands for any text, `?` for any one character', MAX_TEXT),
  length: integer('Only names of this many characters', 1, 63),
  min_length: integer('Only names of this many characters or more', 1, 63),
  max_length: integer('Only names of this many characters or fewer', 1, 63),
  from: moment('Only registered on this day, or at this moment, or later', '00:00:00'),
  to: moment('Only registered on this day, or at this moment, or earlier', '23:59:59'),
  hyphen: integer('Only names with (1) or without (0) a hyphen', 0, 1),
  digits: integer('Only names with (1) or without (0) digits', 0, 1),
  idn: integer('Only names with (1) or without (0) letters beyond ASCII', 0, 1),
  status: integer('Only records with this status', 0, 1),
  reserve: flag('Only reserved domains'),
  rev: flag('Only domains marked for review'),
  dis: flag('Only discarded domains'),
  last_register: integer('The most recently registered', 1, MAX_PAGE),
  last_deleted: integer('The most recently deleted', 1, MAX_PAGE),
  sort: choice('Order by date', ['asc', 'desc']),
}

/** A date and time, or a day that stands for its moment at `time`: the value is always a date and time. */
function moment(description: string, time: string): Parameter<string> {
  return {
    required: false,
    description,
    schema: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d( \\d\\d:\\d\\d:\\d\\d)?$' },
    parse: (given) => {
      const value = given.length === DAY_LENGTH ? `${given} ${time}` : given
      return isCalendarDateTime(value) ? { value } : { takes: TAKES_MOMENT }
    },
  }
}

const DAY_LENGTH = 'YYYY-MM-DD'.length
const TAKES_MOMENT = 'debe ser un día (YYYY-MM-DD) o una fecha y hora (YYYY-MM-DD HH:MM:SS) que existan'

/** @throws HttpError 400 for `agent` without `search` */
export function listRequest(values: Values<typeof filterParameters>): ListRequest {
  const { search, agent, length, from, to, hyphen, digits, idn, status, reserve, rev, dis } = values
  if (agent && (search === undefined || search === '')) {
    throw new HttpError(400, 'El parámetro agent necesita el parámetro search')
  }
  return {
    filters: {
      search: agent ? undefined : nameText(search),
      agent: agent ? search?.toLowerCase() : undefined,
      starts: nameText(values.starts),
      ends: nameText(values.ends),
      pattern: nameText(values.pattern),
      length,
      minLength: values.min_length,
      maxLength: values.max_length,
      from,
      to,
      hyphen,
      digits,
      idn,
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

/** Undefined where the text leaves nothing to look for. */
function nameText(given: string | undefined): SearchText | undefined {
  const folded = given === undefined ? undefined : foldSearch(given)
  return folded?.text === '' ? undefined : folded
}
