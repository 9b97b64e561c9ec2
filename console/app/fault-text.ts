import { ApiError, ConnectionLost } from '../api/client.ts'
import { filterField } from '../domains/filters.ts'
import { language, t, type TextKey } from '../i18n/index.ts'

/** What people call the parameters of the API that are no filters. */
const PARAMETERS: Readonly<Record<string, TextKey>> = {
  account: 'owner.account',
  service: 'owner.service',
  max_images: 'owner.maxImages',
  max_bytes: 'owner.maxMegabytes',
}

const labelOf = (name: string) => PARAMETERS[name] ?? filterField(name)?.label

/** Answers that name parameters only, or call alerts what the API calls them, which means nothing to people. */
const REWORDED: Readonly<Record<string, TextKey>> = {
  'Falta el parámetro url o el parámetro atom': 'fault.noTarget',
  'Falta el parámetro name': 'fault.noName',
  'La vigilancia no existe': 'fault.noWatch',
  'La entrega no existe': 'fault.noDelivery',
  'El contenido de la entrega ya no se conserva': 'fault.noContent',
  'La vigilancia ya no tiene el destino de esa entrega': 'fault.noDestination',
  'La vigilancia ya tiene 20 reenvíos en espera': 'fault.manyReplays',
  'El grupo ya tiene 200 vigilancias compartidas': 'fault.manyShared',
  'La cuenta ya tiene 50 vigilancias': 'fault.manyWatches',
}

/** Answers of the service that have a text here: it speaks Spanish alone. */
const SAID: Readonly<Record<string, TextKey>> = {
  'La clave de API no es válida': 'fault.key',
  'Falta la clave de API': 'fault.key',
  'La clave de API no da acceso a este servicio': 'fault.forbidden',
  'La clave de API no permite esta operación': 'fault.forbidden',
  'La clave de API expiró': 'fault.expired',
  'La imagen está dañada': 'fault.image',
  'La imagen no existe': 'fault.noImage',
  'Demasiadas solicitudes': 'fault.tooMany',
}

/** For answers without words, as those of a proxy are. */
const STATUSES: Readonly<Record<number, TextKey>> = {
  401: 'fault.key',
  403: 'fault.forbidden',
  404: 'fault.notFound',
  413: 'fault.tooLarge',
  429: 'fault.tooMany',
  502: 'fault.busy',
  503: 'fault.busy',
  504: 'fault.busy',
}

/** What went wrong, for people and in their language: in the service's own words where it gave some. */
export function faultText(error: unknown): string {
  if (error instanceof ConnectionLost) return t('app.lost')
  if (error instanceof ApiError) return refusalText(error)
  return error instanceof Error && error.message !== '' ? error.message : t('app.lost')
}

function refusalText({ status, message }: ApiError): string {
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
  const known = SAID[message]
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
