import type { CatalejoCommand } from './command.ts'
import { bashScript } from './completion/bash.ts'
import { fishScript } from './completion/fish.ts'
import { completionsOf, type Completions } from './completion/model.ts'
import { zshScript } from './completion/zsh.ts'

const SCRIPTS: Readonly<Record<string, (completions: Completions) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** `catalejo completion SHELL`: the script is complete, so a shell that completes words starts no process. */
export function printCompletion(program: CatalejoCommand, shell: string): void {
  const write = SCRIPTS[shell]
  if (write !== undefined) process.stdout.write(write(completionsOf(program)))
}
