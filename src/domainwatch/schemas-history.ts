import { array, constant, integer, object, string } from '../http/openapi/json-schema.ts'
import { CHANGE_KINDS } from './history/entries.ts'

const fields = (description: string) => ({
  type: ['object', 'null'],
  description,
  additionalProperties: { type: ['string', 'integer', 'array', 'null'], items: string() },
})

const change = object({
  date: string({ description: 'When, in the time zone of the service', examples: ['2025-12-31 15:00:00'] }),
  account: {
    type: ['string', 'null'],
    description: 'Account that made it; null if unknown, as for an expired record',
  },
  kind: string({ enum: CHANGE_KINDS, description: 'What kind of change' }),
  from: fields('The fields that changed, as they were; null where there was no record'),
  to: fields('The same as they became; null where there is no record any more'),
})

const seen = object({
  status: integer({ enum: [200, 404], description: '404: the DNS said that there is no such name' }),
  dns: array(string(), { description: 'Host names of the name servers' }),
  first: string({ description: 'When that was first seen' }),
  last: string({ description: 'When it was last seen' }),
})

const mail = object({
  mx: array(object({ preference: integer(), exchange: string() })),
  first: string({ description: 'When that was first seen' }),
  last: string({ description: 'When it was last seen' }),
})

export const historyAnswer = object(
  {
    status: constant(200),
    domain: string({ description: 'The name without `.cl`' }),
    count: integer({ description: 'Changes in this page' }),
    data: array(change, { description: 'The changes, newest first' }),
    dns: array(seen, { description: 'The name servers, newest first' }),
    mx: array(mail, { description: 'The MX records, newest first' }),
  },
  {
    description: 'What is known; nothing of a name that was never recorded',
    examples: [
      {
        status: 200,
        domain: 'catalejo',
        count: 1,
        data: [
          {
            date: '2025-12-31 15:00:00',
            account: 'grupo',
            kind: 'changed',
            from: { status: 1, date_mod: '2025-12-31 14:30:40', deleted_at: null },
            to: { status: 0, date_mod: '2025-12-31 15:00:00', deleted_at: '2025-12-31 15:00:00' },
          },
        ],
        dns: [{ status: 200, dns: ['a.nic.cl'], first: '2025-12-31 14:40:00', last: '2025-12-31 14:59:10' }],
        mx: [],
      },
    ],
  },
)
