export { buildTrie, type WordTrie } from './trie.ts'
export { splitBy } from './splitter.ts'
