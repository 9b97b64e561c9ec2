/** A phrase that readers stumble over, and what to write instead. */
interface Phrase {
  readonly pattern: RegExp
  readonly instead: string
  /** Whether it is natural in comments, so that only documents avoid it. */
  readonly documentsOnly?: boolean
}

export interface PhraseProblem {
  /** From 1. */
  readonly line: number
  readonly text: string
  readonly instead: string
}

const PHRASES: readonly Phrase[] = [
  { pattern: /\bwhoever\b/gi, instead: 'name the actor: the client, the caller, anyone who' },
  { pattern: /\banew\b/gi, instead: 'again' },
  { pattern: /\bas it were\b/gi, instead: 'leave it out' },
  { pattern: /\bso many (?:at a time|of them)\b/gi, instead: 'the number, or "at most N"' },
  { pattern: /\bof (?:its|their|his) own accord\b/gi, instead: 'automatically' },
  { pattern: /\bnobody sets\b/gi, instead: 'monotonic' },
  { pattern: /\bheed(?:s|ed|ing)?\b/gi, instead: 'respect, consider' },
  { pattern: /\bbeside\b/gi, instead: 'next to, while, in addition to' },
  { pattern: /\blent\b/gi, instead: 'borrowed, pooled' },
  { pattern: /\b(?:is|are|was|were|be) told of\b/gi, instead: 'is notified of, hears of' },
  { pattern: /\b(?:waits?|waiting|stands?) in line\b/gi, instead: 'queued' },
  { pattern: /\bstands? in the way\b/gi, instead: 'prevents, blocks' },
  { pattern: /\blet go of\b/gi, instead: 'released' },
  { pattern: /\btakes? (?:no )?notice\b/gi, instead: 'ignores, records' },
  { pattern: /\bdear(?:er|est)?\b/gi, instead: 'expensive' },
  { pattern: /\bat once\b/gi, instead: 'immediately, concurrently', documentsOnly: true },
]

/** Replaces code in Markdown with spaces, so that lines and columns stay. */
function withoutCode(markdown: string): string {
  const blank = (code: string) => code.replaceAll(/[^\n]/g, ' ')
  return markdown.replaceAll(/^```[^]*?^```/gm, blank).replaceAll(/`[^`\n]+`/g, blank)
}

/** Finds the phrases to avoid in a document or a source file. */
export function findPhrases(path: string, text: string): PhraseProblem[] {
  const isDocument = path.endsWith('.md')
  const lines = (isDocument ? withoutCode(text) : text).split('\n')
  const phrases = PHRASES.filter(({ documentsOnly }) => isDocument || documentsOnly !== true)
  return lines.flatMap((content, index) =>
    phrases.flatMap(({ pattern, instead }) =>
      [...content.matchAll(pattern)].map(([found]) => ({ line: index + 1, text: found, instead })),
    ),
  )
}
