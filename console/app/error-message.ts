import { MAX_REPLAYS, MAX_SHARED_WATCHES, MAX_WATCHES } from '../api/constants.ts'
import { ApiError, ConnectionError } from '../api/client.ts'
import { filterField } from '../filters/filters.ts'
import { duration, language, t, type TextKey } from '../i18n/index.ts'

/** Labels of API parameters other than filters. */
const PARAMETERS: Readonly<Record<string, TextKey>> = {
  account: 'admin.account',
  service: 'admin.service',
  max_images: 'admin.maxImages',
  max_bytes: 'admin.maxMegabytes',
}

const labelOf = (name: string) => PARAMETERS[name] ?? filterField(name)?.label

/** Error messages that mention parameters or API terms, with a text for users. */
const REWORDED: Readonly<Record<string, TextKey>> = {
  'Falta el parámetro url o el parámetro atom': 'fault.noTarget',
  'Falta el parámetro name': 'fault.noName',
  'La vigilancia no existe': 'fault.noWatch',
  'La entrega no existe': 'fault.noDelivery',
  'El contenido de la entrega ya no se conserva': 'fault.noContent',
  'La vigilancia ya no tiene el destino de esa entrega': 'fault.noDestination',
  [`La vigilancia ya tiene ${MAX_REPLAYS} reenvíos en espera`]: 'fault.manyReplays',
  [`El grupo ya tiene ${MAX_SHARED_WATCHES} vigilancias compartidas`]: 'fault.manyShared',
  [`La cuenta ya tiene ${MAX_WATCHES} vigilancias`]: 'fault.manyWatches',
}

/** Messages of the service, which are in Spanish only, with translations. */
const TRANSLATED: Readonly<Record<string, TextKey>> = {
  'La clave de API no es válida': 'fault.key',
  'Falta la clave de API': 'fault.key',
  'La clave de API no da acceso a este servicio': 'fault.forbidden',
  'La clave de API no permite esta operación': 'fault.forbidden',
  'La clave de API expiró': 'fault.expired',
  'La imagen está dañada': 'fault.image',
  'La imagen no existe': 'fault.noImage',
  'Demasiadas solicitudes': 'fault.tooMany',
  'Los servidores DNS no pudieron responder': 'fault.dns',
  'Los servidores DNS no respondieron a tiempo': 'fault.dnsTimeout',
}

/** For responses without a message, such as those of a proxy. */
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

function apiErrorMessage({ status, message, retryAfter }: ApiError): string {
  if (status === 429 && retryAfter !== undefined) return t('fault.tooManyFor', { time: duration(retryAfter) })
  if (message.startsWith('HTTP ')) {
    return t(STATUSES[status] ?? (status >= 500 ? 'fault.broken' : 'fault.request'))
  }
  const reworded = REWORDED[message]
  if (reworded !== undefined) return t(reworded)
  const isSpanish = language.get() === 'es'
  const [, name = ''] = /^(?:El parámetro|El campo|Falta el parámetro) (\w+)/.exec(message) ?? []
  const label = labelOf(name)
  if (isSpanish) return withoutApiNames(message)
  if (label !== undefined) return t('fault.value', { name: t(label) })
  const known = TRANSLATED[message]
  if (known !== undefined) return t(known)
  if (status === 503) return t('fault.busy')
  return t('fault.said', { text: withoutApiNames(message) })
}

/** `El parámetro min_length debe ser…` is `«Largo mínimo» debe ser…`. */
function withoutApiNames(message: string): string {
  const named = (name: string, rest: string) => {
    const label = labelOf(name)
    return label === undefined ? rest : `«${t(label)}»`
  }
  return message
    .replace(/^El (?:parámetro|campo) (\w+)/, (_, name: string) => named(name, 'El valor'))
    .replace(/\bel (?:parámetro|campo) (\w+)/g, (whole, name: string) => named(name, whole))
}
