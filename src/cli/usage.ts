import { USAGE } from './exit-codes.ts'

/** Says what was wrong with the command's words, and sets the exit code that stands for it. */
export function usageFault(message: string): void {
  console.error(`catalejo: ${message}\nTry: catalejo help`)
  process.exitCode = USAGE
}
