import { toJson, type DomainEvent } from '../events/event.ts'

/** Events in one delivery: some 20 KB, as Standard Webhooks recommends. */
export const MAX_EVENTS = 50

interface Watch {
  readonly id: string
  readonly name: string
}

/** `changes` as the events of a stream; the newest one's time counts for all. */
export function changesPayload({ id, name }: Watch, events: readonly DomainEvent[]): string {
  const timestamp = new Date(Math.max(...events.map(({ at }) => at))).toISOString()
  const watch = JSON.stringify({ id, name })
  const changes = events.map(toJson).join(',')
  return (
    `{"type":"domains.changed","timestamp":"${timestamp}",` +
    `"data":{"watch":${watch},"count":${events.length},"changes":[${changes}]}}`
  )
}

/** Changes were missed, nobody knows which. */
export function gapPayload({ id, name }: Watch, now: number): string {
  const msg = 'Pueden faltar cambios anteriores: vuelva a leer la lista'
  return JSON.stringify({
    type: 'domains.gap',
    timestamp: new Date(now).toISOString(),
    data: { watch: { id, name }, msg },
  })
}

export function testPayload({ id, name }: Watch, now: number): string {
  return JSON.stringify({
    type: 'watch.test',
    timestamp: new Date(now).toISOString(),
    data: { watch: { id, name }, msg: 'Prueba del aviso' },
  })
}
