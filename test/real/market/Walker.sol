// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {JobEscrow} from "./JobEscrow.sol";

/// Somebody whom a walk calls the escrow as.
contract Actor {
    function act(address place, bytes calldata data) external returns (bytes4 refusal) {
        (bool isDone, bytes memory said) = place.call(data);
        if (!isDone) refusal = bytes4(said);
    }
}

/// Takes many steps in one transaction. A step: actor (1 byte), length of the call (2 bytes), the call.
contract Walker {
    Actor[4] public actors;

    /// Four bytes a step: zero, or the selector of the error.
    event Walked(bytes refusals);

    constructor() {
        for (uint256 i = 0; i < actors.length; i++) actors[i] = new Actor();
    }

    function walk(address place, bytes calldata steps) external {
        bytes memory refusals;
        uint256 cursor = 0;
        uint256 count = 0;
        while (cursor < steps.length) {
            cursor += 3 + uint16(bytes2(steps[cursor + 1:cursor + 3]));
            count++;
        }
        refusals = new bytes(4 * count);
        cursor = 0;
        for (uint256 step = 0; step < count; step++) {
            uint256 end = cursor + 3 + uint16(bytes2(steps[cursor + 1:cursor + 3]));
            bytes4 refusal = actors[uint8(steps[cursor])].act(place, steps[cursor + 3:end]);
            for (uint256 i = 0; i < 4; i++) refusals[4 * step + i] = refusal[i];
            cursor = end;
        }
        emit Walked(refusals);
    }

    struct Seen {
        address client;
        address provider;
        address evaluator;
        uint256 expiredAt;
        JobEscrow.Status status;
        uint256 budget;
        bytes32 deliverable;
    }

    function look(JobEscrow escrow, uint256 first, uint256 last) external view returns (Seen[] memory seen) {
        seen = new Seen[](last + 1 - first);
        for (uint256 i = 0; i < seen.length; i++) {
            Seen memory one = seen[i];
            (one.client, one.provider, one.evaluator, one.expiredAt, one.status, one.budget, one.deliverable) =
                escrow.jobs(first + i);
        }
    }
}
