import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { record, stored, update } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { claim } from '../support/queue.ts'
import { startService, type TestService } from '../support/service.ts'
import { prepareInstance } from './instance.ts'

const RECORDS = 150
const MEMBERS = 6
const CLAIMED = 5
const DECIDED = 4
/** Answers of the first node before it is killed: others are on their way then, and half of the records are decided. */
const ANSWERS_BEFORE_KILL = 11

interface Member {
  readonly name: string
  readonly key: string
  node: TestService
}

suite('the queue on several nodes', () => {
  test('when a node is killed, no record is claimed twice, and every record is decided once', async () => {
    await using founder = await startService()
    const names = Array.from({ length: RECORDS }, (_, i) => `n${i}`)
    const keys = await Promise.all(
      Array.from({ length: MEMBERS }, async (_, i) => await founder.newKey(`miembro${i}`, 'domainwatch')),
    )
    await stored(
      founder,
      names.map((name) => record(name, { status: 0 })),
    )
    await founder.stop()

    await using instance = await prepareInstance(founder)
    const [victim, survivor] = await Promise.all([instance.start(), instance.start()])
    const members = keys.map(({ key }, i): Member => {
      return { name: `miembro${i}`, key, node: i % 2 === 0 ? victim : survivor }
    })
    /** By name, the member that holds it for certain. */
    const holders = new Map<string, Member>()
    const deciders = new Map<string, Member>()
    /** Names in an `update` without an answer: decided by this member, or still held. */
    const unanswered = new Map<string, Member>()

    async function turn(member: Member): Promise<boolean> {
      const { names: own } = await claim(member.node, member.key, { status: 0, limit: CLAIMED })
      for (const name of own) {
        assert.ok(!deciders.has(name), `${name} was decided`)
        assert.equal((unanswered.get(name) ?? member).name, member.name, `${name} may be held`)
        assert.equal((holders.get(name) ?? member).name, member.name, `${name} is held`)
        holders.set(name, member)
      }
      const marked = own.slice(0, DECIDED)
      for (const name of marked) {
        holders.delete(name)
        unanswered.set(name, member)
      }
      const data = marked.map((domain) => ({ domain, revision: 1, expect: { revision: 0 } }))
      const reply = await update(member.node, data, { key: member.key })
      assert.equal(reply.status, 200, reply.text)
      for (const name of marked) {
        unanswered.delete(name)
        deciders.set(name, member)
      }
      return own.length > 0
    }

    let answers = 0
    let isKilled = false
    const turnUntilKilled = async (member: Member) => {
      try {
        await turn(member)
        if (member.node !== victim || ++answers !== ANSWERS_BEFORE_KILL) return
        isKilled = true
        await victim.kill()
      } catch (error) {
        // What fetch throws when a connection breaks.
        if (member.node !== victim || !(error instanceof TypeError)) throw error
      }
    }
    // In rounds, so that the members of a quick node do not decide on everything before the other one has answered.
    while (!isKilled) await Promise.all(members.map(turnUntilKilled))
    assert.ok(deciders.size > 0 && deciders.size < RECORDS, `${deciders.size} decided`)

    // What each member holds, on the node that is left.
    const held = new Map<Member, readonly string[]>()
    for (const member of members) {
      member.node = survivor
      const { names: own } = await claim(survivor, member.key, { status: 0, limit: 2 * CLAIMED })
      for (const name of own) {
        assert.ok(!deciders.has(name), `${name} was decided`)
        assert.equal((unanswered.get(name) ?? member).name, member.name, `${name} may be held`)
        assert.equal((holders.get(name) ?? member).name, member.name, `${name} is held`)
        holders.set(name, member)
        unanswered.delete(name)
      }
      const before = [...holders].filter(([, holder]) => holder === member).map(([name]) => name)
      assert.deepEqual(
        before.filter((name) => !own.includes(name)),
        [],
      )
      held.set(member, own)
    }
    // Those that nobody holds any more were decided before the kill.
    for (const [name, member] of unanswered) deciders.set(name, member)
    unanswered.clear()
    const open = RECORDS - deciders.size
    for (const member of members) {
      const { remaining } = await claim(survivor, member.key, { status: 0, limit: 2 * CLAIMED })
      const others = [...held].flatMap(([other, own]) => (other === member ? [] : own))
      assert.equal(remaining, open - others.length)
    }

    await Promise.all(
      members.map(async (member) => {
        while (await turn(member));
      }),
    )
    assert.deepEqual([...deciders.keys()].toSorted(), names.toSorted())
    for (const name of names) {
      const query = { api: founder.domainKey, domain: name }
      const { body } = await call(survivor, '/api/v1/domainwatch/history', { query })
      const authors = Object(body).data.flatMap((entry: { kind: string; account: string }) =>
        entry.kind === 'added' ? [] : [entry.account],
      )
      assert.deepEqual(authors, [deciders.get(name)?.name], name)
    }
  })
})
