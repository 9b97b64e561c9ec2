import { object, string, type JsonSchema } from '../http/openapi/json-schema.ts'

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
