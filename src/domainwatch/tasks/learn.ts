/** Worker-thread task: learns the taste of the group, and scores the records of a segment. */
import { Segment, type SegmentPart } from '../../lib/name-index/index.ts'
import { withTransfer } from '../../lib/tasks.ts'
import { splitBy, type WordTrie } from '../../lib/words/index.ts'
import { demandDigits, InterestModel, type TrainedModel, getScores } from '../interest/model.ts'
import { train, type Decision } from '../interest/learning.ts'

/** A decision without what follows from the name. */
export type GivenDecision = Omit<Decision, 'demand' | 'words'>

export type Input =
  | {
      readonly kind: 'train'
      readonly decisions: readonly GivenDecision[]
      readonly demand: TrainedModel['demand']
      readonly words: WordTrie
    }
  | {
      readonly kind: 'score'
      readonly trained: TrainedModel
      /** All segments, of which the first is scored. */
      readonly parts: readonly SegmentPart[]
    }

/** What each kind of input becomes. */
export interface Output {
  readonly train: TrainedModel
  readonly score: { readonly scores: Uint32Array<ArrayBuffer> }
}

export default function work(input: Input): Output[Input['kind']] {
  if (input.kind === 'train') {
    const { decisions, demand, words } = input
    const split = splitBy(words)
    const known = new Map(demand)
    const given = decisions.map((decision): Decision => {
      const parts = split(decision.name)
      return { ...decision, words: parts, demand: demandDigits(parts, known) }
    })
    return { ...train(given), demand }
  }
  const segments = input.parts.map(({ columns, live }) => new Segment(columns, live))
  const [segment] = segments
  if (segment === undefined) return { scores: new Uint32Array() }
  const scores = getScores(new InterestModel('', input.trained), segment, segments)
  return withTransfer({ scores }, [scores.buffer])
}
