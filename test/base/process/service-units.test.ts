import assert from 'node:assert/strict';
import { launchdPlist, launchdTrigger, type ServiceSpec, systemdUnits } from '#base/process/service-units.ts';
import { verifies } from '../../verifies.ts';

verifies('R5.211', 'what runs all the time has a service without a timer, started again when it fails', () => {
  const always: ServiceSpec = {
    name: 'serve',
    about: ['Talaria'],
    program: ['/bin/t'],
    args: ['serve'],
    env: {},
    logs: { out: '/o', err: '/e' },
  };
  const { service, timer } = systemdUnits(always);
  assert.equal(timer, undefined);
  assert.match(service, /^Restart=on-failure$/m);
  assert.match(service, /^ExecStart=\/bin\/t serve$/m);
  assert.match(service, /^WantedBy=default\.target$/m);
  const trigger = launchdTrigger();
  assert.ok(trigger.ok);
  const plist = launchdPlist(always, trigger.value);
  assert.match(plist, /<key>Label<\/key>\n<string>ai\.talaria\.serve<[\s\S]*<key>KeepAlive<\/key>\n<true\/>/);
});
