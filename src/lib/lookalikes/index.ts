export { Brands, BestMatches, Matcher, MAX_DISTANCE, type NameBlock } from './matcher.ts'
export { REASONS, explain, type Change } from './explain.ts'
export { Vocabulary } from './vocabulary.ts'
