import { declareErrors } from '../lib/errors.ts'

const recordsWithFaults = (count: number) =>
  count === 1 ? 'Hay 1 registro con errores' : `Hay ${count} registros con errores`

/** How many more decisions are needed to learn from them. */
export interface MissingDecisions {
  readonly wanted: number
  readonly unwanted: number
  readonly total: number
}

function missingDecisions({ wanted, unwanted, total }: MissingDecisions): string {
  const kinds = [
    ...(wanted > 0 ? [`${wanted} en revisión`] : []),
    ...(unwanted > 0 ? [`${unwanted} de nombres descartados o vistos`] : []),
  ]
  const all = total === 1 ? 'Falta 1 decisión' : `Faltan ${total} decisiones`
  const least = kinds.length === 0 ? '' : `: al menos ${kinds.join(' y ')}`
  return `${all} para ordenar por interés${least}`
}

/** Errors of domain tracking. Clients rely on codes: one is never renamed, and `docs/api` lists them all. */
export const domainErrors = declareErrors({
  records_invalid: [500, recordsWithFaults],
  names_not_recorded: [500, recordsWithFaults],
  record_changed: [409, 'El registro cambió mientras tanto'],
  not_saved: [500, 'No se han podido guardar los datos'],
  too_many_claims: [409, (max: number) => `La cuenta ya tiene ${max} registros tomados`],

  domain_invalid: [400, 'El nombre debe ser un nombre de dominio completo, con el sufijo .cl'],
  domain_not_found: [404, 'El dominio no existe'],
  dns_refused: [502, 'Los servidores DNS rechazaron la consulta'],
  dns_failed: [502, 'Los servidores DNS no pudieron responder'],
  dns_timeout: [504, 'Los servidores DNS no respondieron a tiempo'],

  job_not_found: [404, 'El trabajo no existe'],
  job_stopped: [409, 'El trabajo se detuvo mientras llegaba su archivo'],
  job_not_ended: [409, 'El trabajo aún no termina'],
  undo_expired: [410, 'Pasó más de un día desde que terminó el cambio'],
  count_changed: [
    409,
    (count: number) => (count === 1 ? 'Ahora coincide 1 registro' : `Ahora coinciden ${count} registros`),
  ],
  too_many_jobs: [429, (max: number) => `La cuenta ya tiene ${max} trabajos sin terminar`],

  rule_not_found: [404, 'La regla no existe'],
  rule_without_filters: [400, 'La regla necesita al menos un filtro'],
  too_many_rules: [409, (max: number) => `El grupo ya tiene ${max} reglas`],

  too_few_decisions: [400, missingDecisions],

  view_not_found: [404, 'La vista no existe'],
  view_owner_only: [403, 'Solo la cuenta dueña puede cambiar o borrar la vista'],
  too_many_views: [409, (max: number) => `La cuenta ya tiene ${max} vistas`],

  watch_not_found: [404, 'La alerta no existe'],
  owner_only: [403, 'Solo la cuenta dueña puede cambiar el destino'],
  too_many_watches: [409, (max: number) => `La cuenta ya tiene ${max} alertas`],
  too_many_shared_watches: [409, (max: number) => `El grupo ya tiene ${max} alertas compartidas`],
  destination_missing: [400, 'Falta uno de los parámetros url, to o atom'],
  channel_not_configured: [400, (channel: string) => `El servicio no tiene configurado ${channel}`],
  too_many_destinations: [400, (max: number) => `La alerta puede tener como máximo ${max} destinos`],
  too_many_account_destinations: [409, (max: number) => `La cuenta puede tener como máximo ${max} destinos`],
  webhook_missing: [409, 'La alerta no tiene webhook'],
  delivery_not_found: [404, 'La entrega no existe'],
  delivery_content_gone: [410, 'El contenido de la entrega ya no se conserva'],
  delivery_destination_gone: [410, 'La alerta ya no tiene el destino de esa entrega'],
  too_many_replays: [409, (max: number) => `La alerta ya tiene ${max} reenvíos en espera`],
})
