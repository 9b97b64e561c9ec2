import { ApiError, ConnectionError, type RecordError } from './client.ts'
import type { ErrorCode } from '../../clients/js/schema.ts'
import { parameterLabel } from '../base/parameter-labels.ts'
import { duration, language, t, type TextKey } from '../i18n/index.ts'

/** Errors with a text of the console. Others are shown as the service says them. */
const TEXTS: Partial<Readonly<Record<ErrorCode, TextKey>>> = {
  key_missing: 'fault.key',
  key_invalid: 'fault.key',
  key_expired: 'fault.expired',
  key_of_other_service: 'fault.otherService',
  key_out_of_scope: 'fault.scope',
  too_many_requests: 'fault.tooMany',
  overloaded: 'fault.busy',
  image_damaged: 'fault.image',
  image_not_found: 'fault.noImage',
  dns_refused: 'fault.dnsRefused',
  dns_failed: 'fault.dns',
  dns_timeout: 'fault.dnsTimeout',
  destination_missing: 'fault.noTarget',
  watch_not_found: 'fault.noWatch',
  delivery_not_found: 'fault.noDelivery',
  delivery_content_gone: 'fault.noContent',
  delivery_destination_gone: 'fault.noDestination',
  too_many_replays: 'fault.manyReplays',
  too_many_shared_watches: 'fault.manyShared',
  too_many_watches: 'fault.manyWatches',
  too_many_views: 'fault.manyViews',
}

/** For responses of a proxy in front of the service. */
const STATUSES: Readonly<Record<number, TextKey>> = {
  200: 'fault.notService',
  401: 'fault.key',
  403: 'fault.forbidden',
  404: 'fault.notFound',
  413: 'fault.tooLarge',
  429: 'fault.tooMany',
  502: 'fault.busy',
  503: 'fault.busy',
  504: 'fault.busy',
}

/** Returns the error message for the user in their language, or the service's own message. */
export function errorMessage(error: unknown): string {
  if (error instanceof ConnectionError) return t('fault.lost')
  if (error instanceof ApiError) return apiErrorMessage(error)
  return error instanceof Error && error.message !== '' ? error.message : t('fault.broken')
}

/** The same for a change, which may have been stored although the response was lost. */
export const changeErrorMessage = (error: unknown): string =>
  error instanceof ConnectionError ? t('fault.lostChange') : errorMessage(error)

/** Returns why a record was rejected. */
export const recordErrorMessage = ({ field, msg }: Pick<RecordError, 'field' | 'msg'>): string =>
  namingField(msg, field)

function apiErrorMessage({ status, code, parameter, message, retryAfter }: ApiError): string {
  if (status === 429 && retryAfter !== undefined) return t('fault.tooManyFor', { time: duration(retryAfter) })
  if (code === undefined) return t(STATUSES[status] ?? (status >= 500 ? 'fault.broken' : 'fault.request'))
  const text = code === 'missing_parameter' && parameter === 'name' ? 'fault.noName' : TEXTS[code]
  return text === undefined ? namingField(message, parameter) : t(text)
}

/** Replaces the API's name of a field in a message by its label: `El parámetro min_length debe ser…` is `«Largo mínimo» debe ser…`. */
function namingField(message: string, name = ''): string {
  const key = parameterLabel(name)
  const label = key === undefined ? undefined : t(key)
  if (language.get() === 'es') {
    return message.replace(/^El (?:parámetro|campo) \S+/, label === undefined ? 'El valor' : `«${label}»`)
  }
  return label === undefined ? t('fault.said', { text: message }) : t('fault.value', { name: label })
}
