import type { TestEvent } from 'node:test/reporters'

/** A line of JSON for each test that ended. */
export interface Ended {
  readonly file: string
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly ms: number
  /** Why it failed. */
  readonly reason: string
}

export default async function* reporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    if (data.details.type === 'suite') continue
    const isSkipped = data.skip !== undefined && data.skip !== false
    const error = type === 'test:fail' ? data.details.error : undefined
    const cause =
      error?.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : String(error?.cause)
    const ended: Ended = {
      file: data.file ?? '',
      name: data.name,
      outcome: type === 'test:fail' ? 'failed' : isSkipped ? 'skipped' : 'passed',
      ms: Math.round(data.details.duration_ms),
      reason: error === undefined ? '' : cause,
    }
    yield `${JSON.stringify(ended)}\n`
  }
}
