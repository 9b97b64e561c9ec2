import { array, constant, integer, object, string } from '../http/openapi/json-schema.ts'
import { CLAIM_MINUTES } from './limits.ts'
import { furtherFields } from './record-fields.ts'
import { RECORD_EXAMPLE, recordFields } from './schemas.ts'

export const queueAnswer = object(
  {
    status: constant(200),
    count: integer({ description: 'Records returned' }),
    remaining: integer({ description: 'All matching records that no other account holds' }),
    until: string({
      description: `Until when the account holds them, ${CLAIM_MINUTES} minutes from now, in the time zone of the service`,
    }),
    data: array(array(object({ ...recordFields, ...furtherFields })), {
      description: 'One array that holds the records. Their further fields are those that `fields` names',
    }),
  },
  {
    description: 'The records that the account holds now',
    examples: [
      {
        status: 200,
        count: 1,
        remaining: 823,
        until: '2026-01-05 09:10:00',
        data: [[{ ...RECORD_EXAMPLE, status: 0 }]],
      },
    ],
  },
)

export const releasedAnswer = object(
  { status: constant(200), count: integer({ description: 'Records that the account held until now' }) },
  { description: 'The records were released', examples: [{ status: 200, count: 20 }] },
)

const holder = object({
  account: string({ description: 'Name of the account' }),
  count: integer({ description: 'Records that it holds' }),
  until: string({ description: 'When the last of its claims ends, in the time zone of the service' }),
})

export const holdersAnswer = object(
  {
    status: constant(200),
    count: integer({ description: 'Number of accounts' }),
    data: array(holder, { description: 'Those that hold the most records first' }),
  },
  {
    description: 'The accounts that hold records now',
    examples: [
      { status: 200, count: 1, data: [{ account: 'grupo', count: 20, until: '2026-01-05 09:10:00' }] },
    ],
  },
)
