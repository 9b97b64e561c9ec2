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
    const ended: Ended = {
      file: data.file ?? '',
      name: data.name,
      outcome: type === 'test:fail' ? 'failed' : isSkipped ? 'skipped' : 'passed',
      ms: Math.round(data.details.duration_ms),
      reason: error === undefined ? '' : reasonOf(error.cause),
    }
    yield `${JSON.stringify(ended)}\n`
  }
}

/** The innermost cause comes first: that of a property is an assertion, and its counterexample is long. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const own = error.stack ?? error.message
  return error.cause === undefined ? own : `${reasonOf(error.cause)}\n${own}`
}
