/** A phrase that readers stumble over, and what to write instead. */
interface Phrase {
  readonly pattern: RegExp
  readonly instead: string
}

export interface PhraseProblem {
  /** From 1. */
  readonly line: number
  readonly text: string
  readonly instead: string
}

const PHRASES: readonly Phrase[] = [
  { pattern: /\bwhoever\b/gi, instead: 'name the actor: the client, the caller, anyone who' },
  { pattern: /\bsomebody\b/gi, instead: 'name the actor: another client, a user, someone' },
  { pattern: /\banew\b/gi, instead: 'again' },
  { pattern: /\bas it were\b/gi, instead: 'leave it out' },
  { pattern: /\bas ever\b/gi, instead: 'as before' },
  { pattern: /\bso many\b(?!.*\bthat\b)/gi, instead: 'the number, or "at most N"' },
  { pattern: /\b(?:for|no|not) so long\b/gi, instead: 'the duration' },
  { pattern: /\bof (?:its|their|his) own accord\b/gi, instead: 'automatically' },
  { pattern: /\bby (?:itself|themselves)\b/gi, instead: 'automatically, alone' },
  { pattern: /\bnobody sets\b/gi, instead: 'monotonic' },
  { pattern: /\bheed(?:s|ed|ing)?\b/gi, instead: 'respect, consider' },
  { pattern: /\bbeside\b/gi, instead: 'next to, while, in addition to' },
  { pattern: /\blent\b/gi, instead: 'borrowed, pooled' },
  { pattern: /\btold\b/gi, instead: 'notified, called, reported' },
  { pattern: /\btells (?:of|apart|that|how|what|whether)\b/gi, instead: 'reports, returns, distinguishes' },
  { pattern: /\bwhat (?:came|comes|became|becomes) of\b/gi, instead: 'the outcome of' },
  { pattern: /\b(?:waits?|waiting|stands?) in line\b/gi, instead: 'queued' },
  { pattern: /\bstands? in the way\b/gi, instead: 'prevents, blocks' },
  { pattern: /\bstandstill\b/gi, instead: 'pause, stall' },
  { pattern: /\blet go of\b/gi, instead: 'released' },
  { pattern: /\btakes? (?:no )?notice\b/gi, instead: 'ignores, records' },
  { pattern: /\btakes? no more\b/gi, instead: 'stops accepting' },
  { pattern: /\b(?:go|goes|went|going) on\b/gi, instead: 'continues, resumes' },
  { pattern: /\bdear(?:er|est)?\b/gi, instead: 'expensive' },
  { pattern: /\bat once\b/gi, instead: 'immediately, concurrently' },
  { pattern: /\bfor (?:ever|good)\b/gi, instead: 'forever, indefinitely, permanently' },
  { pattern: /\bwithout end\b/gi, instead: 'endless' },
  { pattern: /\bin vain\b/gi, instead: 'without success' },
  { pattern: /\bto the letter\b/gi, instead: 'exactly' },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more than\b|less than\b|way\b)\w+/gi,
    instead: 'is not a',
  },
  { pattern: /\bbut for\b/gi, instead: 'except for' },
  { pattern: /\b(?:its|their) likes?\b/gi, instead: 'such as' },
  { pattern: /\bthe own\b/gi, instead: 'its own' },
  { pattern: /\b(?:it|that|this|these|they) alone\b/gi, instead: 'only' },
  { pattern: /\bOf (?:the|an?|its|each|all|those)\b/g, instead: 'begin with the noun: Watch ID' },
]

/** Replaces code in Markdown with spaces, so that lines and columns stay. */
function withoutCode(markdown: string): string {
  const blank = (code: string) => code.replaceAll(/[^\n]/g, ' ')
  return markdown.replaceAll(/^```[^]*?^```/gm, blank).replaceAll(/`[^`\n]+`/g, blank)
}

/** Finds the phrases to avoid in a document, or in the prose of a source file. */
export function findPhrases(path: string, text: string): PhraseProblem[] {
  const lines = (path.endsWith('.md') ? withoutCode(text) : text).split('\n')
  return lines.flatMap((content, index) =>
    PHRASES.flatMap(({ pattern, instead }) =>
      [...content.matchAll(pattern)].map(([found]) => ({ line: index + 1, text: found, instead })),
    ),
  )
}
