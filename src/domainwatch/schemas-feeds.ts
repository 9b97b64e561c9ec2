import { array, constant, integer, object, string } from '../http/openapi/json-schema.ts'
import { IMPORT_FORMATS } from './import/format.ts'

const moment = (description: string) => ({ type: ['string', 'null'], description })
const amount = (description: string) => ({ type: ['integer', 'null'], description })

const feed = object({
  name: string({ description: 'The name in the settings' }),
  host: string({ description: 'Host of the address, with its port if it is not the usual one' }),
  format: string({ enum: [...IMPORT_FORMATS, 'auto'], description: 'Format of the list' }),
  every: string({ description: 'Interval', examples: ['15m'] }),
  account: string({ description: 'Account on whose behalf records are imported' }),
  last_attempt: moment('When it was last fetched, successfully or not; null before the first time'),
  last_success: moment('When that last succeeded, also if the list was unchanged'),
  last_change: moment('When an import last changed records'),
  read: amount('Records in the last import; null before the first'),
  changed: amount('Records that the last import added or changed'),
  refused: amount('Lines that the last import refused'),
  error: { type: ['string', 'null'], description: 'Why the last attempt failed; null if it succeeded' },
  stale: integer({ enum: [0, 1], description: '1 if there was no success for three intervals' }),
})

export const feedsAnswer = object(
  {
    status: constant(200),
    count: integer({ description: 'Number of feeds' }),
    data: array(feed, { description: 'The feeds, in the order of the settings' }),
  },
  {
    description: 'The feeds; none if the setting `feeds` is not given',
    examples: [
      {
        status: 200,
        count: 1,
        data: [
          {
            name: 'eliminados',
            host: 'listas.example.cl',
            format: 'deletions',
            every: '6h',
            account: 'grupo',
            last_attempt: '2025-12-31 15:00:00',
            last_success: '2025-12-31 15:00:01',
            last_change: '2025-12-31 09:00:01',
            read: 412,
            changed: 3,
            refused: 0,
            error: null,
            stale: 0,
          },
        ],
      },
    ],
  },
)
