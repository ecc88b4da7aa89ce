// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// Tokens that an escrow must not be fooled by. Anybody mints.
contract FeeToken is ERC20("Fee", "FEE") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// A hundredth of what is moved is gone.
    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (from != address(0) && to != address(0)) super._update(to, address(0), value / 100);
    }
}

contract FalseToken is ERC20("False", "NO") {
    bool public refuses;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function refuse(bool on) external {
        refuses = on;
    }

    function transfer(address to, uint256 value) public override returns (bool) {
        return refuses ? false : super.transfer(to, value);
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        return refuses ? false : super.transferFrom(from, to, value);
    }
}

/// Calls somebody in the middle of each transfer, and keeps what came of it.
contract EnteringToken is ERC20("Entering", "IN") {
    address public target;
    bytes public data;
    uint256 public tries;
    uint256 public entered;
    bytes public answer;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function aim(address target_, bytes calldata data_) external {
        (target, data, tries, entered) = (target_, data_, 0, 0);
    }

    function _update(address from, address to, uint256 value) internal override {
        super._update(from, to, value);
        if (target == address(0)) return;
        tries++;
        (bool isDone, bytes memory said) = target.call(data);
        if (isDone) entered++;
        answer = said;
    }
}

contract LongToken is ERC20("Eighteen", "LONG") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// Refuses to move anything to some.
contract BarringToken is ERC20("Barring", "BAR") {
    mapping(address => bool) public barred;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function bar(address who) external {
        barred[who] = true;
    }

    function _update(address from, address to, uint256 value) internal override {
        require(!barred[to], "barred");
        super._update(from, to, value);
    }
}
