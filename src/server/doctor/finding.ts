/** One result of the doctor. */
export interface Finding {
  readonly level: Level
  /** What was looked at: `disk`, `backup`. */
  readonly check: string
  /** What was found, and what follows from it. */
  readonly text: string
  /** The command or setting that mends it; null if nothing has to be. */
  readonly mend: string | null
}

export const LEVELS = ['ok', 'warn', 'fail'] as const
export type Level = (typeof LEVELS)[number]

/** A finding of a check whose name is known. */
export type Result = Omit<Finding, 'check'>

/** Yields what was found, and returns what there is to say if nothing was. */
export type Look = AsyncGenerator<Result, string | undefined>

/** Looks at one thing. Throws if that could not be done, which is a failure too. */
export interface Check {
  readonly name: string
  readonly run: () => Look
}

export const ok = (text: string): Result => ({ level: 'ok', text, mend: null })
export const warn = (text: string, mend: string): Result => ({ level: 'warn', text, mend })
export const fail = (text: string, mend: string): Result => ({ level: 'fail', text, mend })

/** Returns what a look yields, or else that all is well. */
export async function collect(look: Look): Promise<readonly Result[]> {
  const results: Result[] = []
  for (;;) {
    const { done, value } = await look.next()
    if (done !== true) results.push(value)
    else if (value === undefined || results.length > 0) return results
    else return [ok(value)]
  }
}
