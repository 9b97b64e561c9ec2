// The package ships no types. `data` is left unknown on purpose: what comes off the wire is narrowed where it is read.
declare module 'dns-packet' {
  export interface Question {
    name: string
    type: string
    class?: string
  }
  export interface ResourceRecord {
    name: string
    type: string
    class?: string
    ttl?: number
    data?: unknown
    udpPayloadSize?: number
    extendedRcode?: number
  }
  export interface Message {
    id?: number
    type?: 'query' | 'response'
    flags?: number
    questions?: Question[]
    answers?: ResourceRecord[]
    authorities?: ResourceRecord[]
    additionals?: ResourceRecord[]
  }
  export function encode(message: Message): Buffer
  export function decode(bytes: Buffer): Required<Message>
}
