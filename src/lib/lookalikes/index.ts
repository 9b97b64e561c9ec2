export { BestMatches, type Match } from './matcher.ts'
export { REASONS, explain, type Change } from './explain.ts'
export { Matcher, MAX_DISTANCE, type NameBlock } from './matcher.ts'
export { Vocabulary } from './vocabulary.ts'
