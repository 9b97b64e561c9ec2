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

/** Looks at one thing. Throws if that could not be done, which is a failure too. */
export interface Check {
  readonly name: string
  readonly run: () => Promise<readonly Result[]>
}

/** A finding of a check whose name is known. */
export type Result = Omit<Finding, 'check'>

export const ok = (text: string): Result => ({ level: 'ok', text, mend: null })
export const warn = (text: string, mend: string): Result => ({ level: 'warn', text, mend })
export const fail = (text: string, mend: string): Result => ({ level: 'fail', text, mend })

/** Returns the problems, or that there are none. */
export const problemsOr = (problems: readonly Result[], text: string): readonly Result[] =>
  problems.length > 0 ? problems : [ok(text)]
