import type { Command } from 'commander'

/** `catalejo help COMMAND`: what `catalejo COMMAND --help` prints. */
export function showHelp(program: Command, words: readonly string[]): void {
  let command = program
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word)
    // Reports the word with the nearest command.
    if (next === undefined) return command.error(`error: unknown command '${word}'`)
    command = next
  }
  command.outputHelp()
}
