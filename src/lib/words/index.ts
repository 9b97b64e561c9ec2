export { buildTrie, MAX_WORD, type WordTrie } from './trie.ts'
export { splitBy } from './splitter.ts'
