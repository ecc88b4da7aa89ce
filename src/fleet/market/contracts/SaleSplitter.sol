// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ERC2771Context} from "@openzeppelin/contracts/metatx/ERC2771Context.sol";
import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {JobEscrow} from "./JobEscrow.sol";

/// Who is paid for what is sold. `creator`: who made it first, zero or the seller itself when nobody sold it before;
/// `creatorOwner`: who takes the royalty of a dead creator; `agent`: may deliver for the seller, may be zero.
struct Sale {
    address seller;
    address agent;
    address creator;
    address creatorOwner;
    address styx;
    address gas;
}

/// Owns the parts of a price. It is the provider of each job of one listing: delivers for the seller and divides what it is paid. A clone; its
/// Sale stands in its code, so nobody sets it twice.
/// Invariants: the parts sum to what was there; shares are floors, the rest is the seller's; a receiver that the token refuses holds up nobody:
/// its share is the seller's.
contract SaleSplitter is ERC2771Context, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    JobEscrow public immutable escrow;
    IERC20 public immutable token;
    /// Does the owner of the creator stand in its place?
    bool public inherited;

    event Inherited(address indexed creator, address indexed creatorOwner);

    error NotYours(address caller);

    constructor(JobEscrow escrow_, IERC20 token_, address forwarder) ERC2771Context(forwarder) {
        escrow = escrow_;
        token = token_;
    }

    function sale() public view returns (Sale memory) {
        return abi.decode(Clones.fetchCloneArgs(address(this)), (Sale));
    }

    function submit(uint256 jobId, bytes32 deliverable) external {
        Sale memory given = sale();
        if (_msgSender() != given.seller) _only(given.agent);
        escrow.submit(jobId, deliverable, "");
    }

    /// Anybody may send it; with nothing to divide it does nothing.
    function release() external nonReentrant {
        uint256 whole = token.balanceOf(address(this));
        if (whole == 0) return;
        Sale memory given = sale();
        bool isResale = given.creator != address(0) && given.creator != given.seller;
        uint256 paid = _pay(given.styx, whole * 5 / 100) + _pay(given.gas, whole * 2 / 100);
        if (isResale) paid += _pay(inherited ? given.creatorOwner : given.creator, whole * 5 / 100);
        token.safeTransfer(given.seller, whole - paid);
    }

    /// The royalty of a creator that died goes to its owner from now on.
    function inherit() external {
        Sale memory given = sale();
        _only(given.creatorOwner);
        inherited = true;
        emit Inherited(given.creator, given.creatorOwner);
    }

    function _pay(address to, uint256 amount) private returns (uint256) {
        return amount > 0 && token.trySafeTransfer(to, amount) ? amount : 0;
    }

    function _only(address role) private view {
        if (_msgSender() != role) revert NotYours(_msgSender());
    }
}
