import { integer, nullable, string, object, type JsonSchema } from '../http/openapi/json-schema.ts'
import type { DestinationRow } from './queries.ts'

/** The state of deliveries to one destination. */
export const deliveryStateFields = {
  state: string({
    enum: ['active', 'dead'],
    description: '`active`: changes are delivered. `dead`: deliveries were abandoned',
  }),
  pending: integer({ minimum: 0, maximum: 1, description: 'Whether a delivery is in progress' }),
  attempts: integer('Failed attempts of the delivery in progress'),
  next_attempt: nullable(string('Time of the next attempt')),
  last_delivery: nullable(string('Time of the last successful delivery')),
  last_error: nullable(string('Last error since the last successful delivery')),
  last_error_at: nullable(string('Time of the last error')),
}

export const DELIVERY_STATE_EXAMPLE = {
  state: 'active',
  pending: 0,
  attempts: 0,
  next_attempt: null,
  last_delivery: '2026-01-06T09:00:01.250Z',
  last_error: null,
  last_error_at: null,
}

type DeliveryState = Pick<
  DestinationRow,
  'state' | 'attempts' | 'next_at' | 'delivered_at' | 'last_error' | 'last_error_at' | 'delivery_id'
>

export const toDeliveryState = (row: DeliveryState) => ({
  state: row.state,
  pending: row.delivery_id === null ? 0 : 1,
  attempts: row.attempts,
  next_attempt: isRetried(row) ? iso(row.next_at) : null,
  last_delivery: isoOrNull(row.delivered_at),
  last_error: row.last_error,
  last_error_at: isoOrNull(row.last_error_at),
})

/** Without a pending delivery, `next_at` is the time of a digest. */
export const isRetried = ({ state, next_at, delivery_id }: DeliveryState): boolean =>
  state === 'active' && next_at > 0 && delivery_id !== null

export const iso = (time: number) => new Date(time).toISOString()
export const isoOrNull = (time: number | null | undefined) => (typeof time === 'number' ? iso(time) : null)

/** Describes a webhook in OpenAPI. @param type its `type`, which names the event */
export const webhook = (
  type: string,
  summary: string,
  data: Readonly<Record<string, JsonSchema>>,
): JsonSchema => ({
  post: {
    summary,
    parameters: ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
      name,
      in: 'header',
      required: true,
      schema: string(),
      description: 'Header of Standard Webhooks 1.0.0',
    })),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: object({
            type: string({ enum: [type] }),
            timestamp: string('Time of the newest change, in UTC (RFC 3339)'),
            data: object(data),
          }),
        },
      },
    },
    responses: {
      204: { description: 'Received; any other 2xx means the same' },
      410: { description: 'Stop: nothing more is sent' },
    },
  },
})
