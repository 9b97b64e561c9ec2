import { integer, object, optional, problemWith, string } from '../http/openapi/json-schema.ts'
import { domainErrors } from './errors.ts'
import { DISCARDED_RETENTION_DAYS } from './limits.ts'

export const bit = (description: string) => integer({ minimum: 0, maximum: 1, description })
export const dateTime = (description: string) =>
  string({
    pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$',
    description,
    examples: ['2025-12-31 14:30:34'],
  })

export const recordFields = {
  name: string({ description: 'Name without the `.cl` suffix', examples: ['ñandú'] }),
  length: integer('Length of the name in characters'),
  agent: string('Agent that recorded the domain'),
  status: bit('Registered (1) or free (0)'),
  reserved: bit('Reserved (1) or not (0)'),
  revision: bit('Marked for review (1) or not (0)'),
  discarded: bit(
    `Discarded (1) or not (0); a discarded record is purged after ${DISCARDED_RETENTION_DAYS} days`,
  ),
  date_reg: dateTime('Registration time'),
  date_mod: dateTime('Time of the last change of the record, in the time zone of the service'),
}

export const RECORD_EXAMPLE = {
  name: 'catalejo',
  length: 8,
  agent: 'grupo',
  status: 1,
  reserved: 0,
  revision: 0,
  discarded: 0,
  date_reg: '2025-12-31 14:30:34',
  date_mod: '2025-12-31 15:00:00',
}

const MISSING = { wanted: 3, unwanted: 0, total: 12 }

/** The error of lists whose order needs more decisions. */
export const orderRefused = problemWith(
  {
    missing: optional(
      object({
        wanted: integer('Missing decisions for names'),
        unwanted: integer('Missing decisions against names'),
        total: integer('Missing decisions in total'),
      }),
    ),
  },
  'A parameter is malformed or out of range, or there are too few decisions for `order=interest`',
  domainErrors.too_few_decisions(MISSING).with({ fields: { missing: MISSING } }),
)
