import { array, constant, integer, object, string } from '../http/openapi/json-schema.ts'

const nullable = (type: string, description: string) => ({ type: [type, 'null'], description })
const bit = (description: string) => integer({ minimum: 0, maximum: 1, description })

const SHOWN = {
  id: 'msg_NkS9BzIM6vFRXZ5orBeP',
  time: '2026-01-06 06:00:00',
  time_utc: '2026-01-06T09:00:00.812Z',
  channel: 'webhook',
  events: 3,
  state: 'delivered',
  attempts: 2,
  code: 204,
  milliseconds: 184,
  error: null,
  replayable: 1,
  replaying: 0,
}

export const deliveriesAnswer = object(
  {
    status: constant(200),
    count: integer(),
    data: array(
      object({
        id: string({ description: 'The same for all attempts; webhooks carry it as `webhook-id`' }),
        time: string({ description: 'When it began, in the time zone of the service' }),
        time_utc: string({ description: 'The same in UTC (RFC 3339)' }),
        channel: string({ description: 'How it is sent: `webhook`, `mailto` and others' }),
        events: integer({ description: 'Changes in it' }),
        state: string({
          enum: ['pending', 'delivered', 'failed'],
          description: '`pending`: being tried. `failed`: given up',
        }),
        attempts: integer({ description: 'Attempts so far' }),
        code: nullable(
          'integer',
          'Status that the receiver answered to the last attempt; null without an answer',
        ),
        milliseconds: nullable('integer', 'How long the last attempt took; null before it ended'),
        error: nullable('string', 'Error of the last attempt; null if it succeeded'),
        replayable: bit('Whether its content is kept, so that it can be sent again'),
        replaying: bit('Whether it waits to be sent again'),
      }),
    ),
  },
  { description: 'Newest first', examples: [{ status: 200, count: 1, data: [SHOWN] }] },
)

export const replayAnswer = object(
  {
    status: constant(200),
    id: string({ description: 'Of the watch' }),
    delivery: string({ description: 'Its id' }),
  },
  {
    description: 'It will be sent',
    examples: [{ status: 200, id: 'q0Zl3vXW8b1k', delivery: SHOWN.id }],
  },
)
