export {
  Catalejo,
  uploadWithTicket,
  type Answer,
  type ClientOptions,
  type Operation,
  type OperationParameters,
} from './client.ts'
export { CatalejoError, type RequestOptions } from './request.ts'
export type { EventsOptions, ServiceEvent } from './events.ts'
export {
  alias,
  MODIFIERS,
  sign,
  signSrcset,
  srcset,
  url,
  type Modifiers,
  type SignOptions,
  type Tokens,
} from './links.ts'
export type * from './schema.ts'
export { verifyWebhook, WebhookError, type VerifyOptions, type WebhookHeaders } from './webhook.ts'
