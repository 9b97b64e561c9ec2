/** The `catalejo` command. Without words it runs the service. */
import { CommanderError } from 'commander'
import { USAGE } from './exit-codes.ts'
import { createProgram } from './program.ts'

const words = process.argv.slice(2)
let isService = false
const program = createProgram().hook('preAction', (_program, command) => {
  isService = command.name() === 'serve'
  // The service logs what nobody expected, with its stack; a command says in a line why it failed.
  if (!isService) process.on('uncaughtException', (error) => void tell(error).then(() => process.exit()))
})

try {
  await program.parseAsync(words.length === 0 ? ['serve'] : words, { from: 'user' })
} catch (error) {
  // The parser has reported what is wrong, or shown the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE
  else if (isService) throw error
  else await tell(error)
}

async function tell(error: unknown): Promise<void> {
  const { fail, failureLine } = await import('./failure.ts')
  fail(failureLine(error))
}
